/**
 * What of GitHub's API an OAuth client needs: end a token, end a grant, check a token, whose it is,
 * and one list in pages.
 *
 * Seen (https://docs.github.com/rest/apps/oauth-applications, npm @octokit/oauth-methods 6.0.5):
 * DELETE with Basic client id and secret, JSON `access_token`, 204; 422 when that member is
 * invalid; a grant ends with all tokens of person and app.
 * Seen (npm @octokit/oauth-methods 5.1.4 check-token): POST checks, and says `scopes` and
 * `expires_at`.
 * Recalled: 404 for a token that is gone, 401 for wrong credentials, GET /user, `app` and `user` of
 * a check.
 * Assumed: a token's refresh token goes with it.
 * Recalled: GET /user/repos, `per_page` of 1 to 100, and its Link header
 * (https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api).
 */
import { ACCOUNTS } from "../pages.ts";
import { authenticate } from "./base/clients.ts";
import type { VendorHost } from "./base/host.ts";
import { json } from "./base/members.ts";
import type { SimulatedClient } from "./base/simulator.ts";
import type { Grant, HeldToken } from "./base/tokens.ts";

const MESSAGES: Readonly<Record<string, string>> = {
  "401": "Bad credentials",
  "403": "Resource not accessible by integration",
  "404": "Not Found",
  "422": "Validation Failed",
};

export function serveGitHubApi<Client extends SimulatedClient>(host: VendorHost<Client>): void {
  const { tokens, clients } = host;
  /** The live access token of the requesting app, which authenticates with Basic. */
  const withToken = (method: string, path: string, answer: (token: HeldToken) => Response): void =>
    host.serve(
      `/applications/:clientId/${path}`,
      "revocation",
      problem,
      (c, members) => {
        const client = authenticate(c, members, clients, () => "client_secret_basic");
        if (client === undefined) return problem("401");
        const value = members.get("access_token");
        if (members.encoding !== "json" || value === undefined) return problem("422");
        const token = tokens.find(value, "access", client.clientId);
        return token?.state === "live" && client.clientId === c.req.param("clientId") ? answer(token) : problem("404");
      },
      [method],
    );
  withToken("DELETE", "token", ({ grant: { id } }) => {
    tokens.endGrants((grant) => grant.id === id);
    return new Response(null, { status: 204 });
  });
  withToken("DELETE", "grant", ({ grant: { user, clientId } }) => {
    host.disconnect(user, clientId);
    return new Response(null, { status: 204 });
  });
  withToken("POST", "token", ({ value, grant, expiresAt }) =>
    json({
      token: value,
      scopes: grant.scopes,
      app: { client_id: grant.clientId, name: clients.get(grant.clientId)?.name ?? grant.clientId },
      user: userOf(grant.user),
      expires_at: expiresAt === undefined ? null : `${new Date(expiresAt * 1000).toISOString().slice(0, 19)}Z`,
    }),
  );
  const asUser = (path: string, answer: (grant: Grant, url: URL) => Response): void =>
    host.serve(
      path,
      "api",
      problem,
      (c) => {
        const token = host.access(c);
        return token === undefined ? problem("401") : answer(token.grant, new URL(c.req.url));
      },
      ["GET"],
    );
  asUser("/user", ({ user, scopes }) => json(userOf(user), 200, { "X-OAuth-Scopes": scopes.join(", ") }));
  asUser("/user/repos", ({ user }, url) => repositoriesOf(user, url, host.url));
}

const REPOSITORIES = 5;
const PER_PAGE = { default: 30, most: 100 };

/** One page of a user's repositories, with links to the pages around it (RFC 8288). */
function repositoriesOf(user: string, { pathname, searchParams }: URL, origin: string): Response {
  const asked = Number(searchParams.get("per_page") ?? PER_PAGE.default);
  const size = Math.min(Math.max(1, Math.trunc(asked) || PER_PAGE.default), PER_PAGE.most);
  const page = Math.max(1, Math.trunc(Number(searchParams.get("page") ?? 1)) || 1);
  const last = Math.ceil(REPOSITORIES / size);
  const links = { prev: page - 1, next: page + 1, last, first: 1 };
  const due = Object.entries(links).filter(([, to]) => to >= 1 && to <= last && to !== page);
  const all = Array.from({ length: REPOSITORIES }, (_, index) => ({
    id: index + 1,
    full_name: `sample-${user}/repository-${index + 1}`,
    private: false,
  }));
  const link = due.map(([rel, to]) => `<${origin}${pathname}?per_page=${size}&page=${to}>; rel="${rel}"`).join(", ");
  return json(all.slice((page - 1) * size, page * size), 200, link === "" ? {} : { Link: link });
}

function problem(status: string): Response {
  const body = { message: MESSAGES[status], documentation_url: "https://docs.github.com/rest", status };
  return json(body, Number(status));
}

function userOf(id: string): object {
  const account = ACCOUNTS.find((one) => one.id === id);
  const number = ACCOUNTS.findIndex((one) => one.id === id) + 1;
  return { login: `sample-${id}`, id: number, name: account?.name, email: account?.email, type: "User" };
}
