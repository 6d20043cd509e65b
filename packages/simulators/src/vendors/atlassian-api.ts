/**
 * What a token opens at Atlassian: its list of sites, one site's API, the person, and the MCP
 * server.
 *
 * Seen: the list and the base of an API by cloud id (the list itself recalled), the MCP server's
 * 401 with `resource_metadata` and `error="invalid_token"`, and that it refuses tokens of 3LO
 * (public probes, 2026-07). Recalled: the shape of the list and of refusals; that a token lists
 * only the site its consent was for. Assumed: that tokens for the MCP server open `/me`, whose
 * scope they can have.
 */
import { ACCOUNTS } from "../pages.ts";
import type { VendorHost } from "./base/host.ts";
import { json } from "./base/members.ts";
import type { SimulatedClient } from "./base/simulator.ts";
import type { Grant } from "./base/tokens.ts";

export interface AtlassianSite {
  /** The cloud id. */
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

export interface AtlassianGrant extends Grant {
  readonly siteId: string;
  /** The MCP server, or the REST APIs. */
  readonly audience: "mcp" | "3lo";
  /** Seconds since 1970. */
  readonly since: number;
}

export const API_ERRORS: readonly string[] = ["401", "403", "429"];

export function serveAtlassianApi<Client extends SimulatedClient>(
  host: VendorHost<Client>,
  settings: { readonly sites: readonly AtlassianSite[] },
  mcpServer: string,
): void {
  const { url, app, takeRefusal } = host;
  const { pathname } = new URL(mcpServer);
  const metadata = `${url}/.well-known/oauth-protected-resource${pathname}`;
  const challenge = { "WWW-Authenticate": `Bearer resource_metadata="${metadata}", error="invalid_token"` };
  const sitesOf = ({ siteId, scopes: all }: AtlassianGrant): object[] => {
    const scopes = all.filter((scope) => scope !== "offline_access");
    const sites = settings.sites.filter(({ id }) => id === siteId);
    return sites.map((site) => ({ ...site, scopes, avatarUrl: `${site.url}/icon` }));
  };
  const serve = (
    method: "GET" | "POST",
    path: string,
    audience: AtlassianGrant["audience"] | "any",
    answer: (grant: AtlassianGrant, cloudId: string, call: { readonly id?: unknown }) => Response,
  ): void =>
    void app.on(method, path, async (c) => {
      const refused = takeRefusal("api");
      if (refused === "403") return refuse(403, "Forbidden");
      if (refused === "429") return refuse(429, "Rate limited", { "Retry-After": "5" });
      const grant = host.access(c)?.grant as AtlassianGrant | undefined;
      const isGood = grant !== undefined && (audience === "any" || grant.audience === audience);
      if (!isGood || refused !== undefined) return refuse(401, "Unauthorized", audience === "mcp" ? challenge : {});
      const call = (await c.req.json().catch(() => ({}))) as { readonly id?: unknown };
      return answer(grant, c.req.param("cloudId") ?? "", call);
    });
  serve("GET", "/oauth/token/accessible-resources", "3lo", (grant) => json(sitesOf(grant)));
  serve("GET", "/me", "any", ({ user, scopes }) => {
    if (!scopes.includes("read:me")) return refuse(403, "Forbidden: the token lacks the scope read:me");
    const account = ACCOUNTS.find(({ id }) => id === user);
    return json({ account_id: user, email: account?.email, name: account?.name, account_status: "active" });
  });
  serve("GET", "/ex/jira/:cloudId/rest/api/3/myself", "3lo", ({ siteId, user }, cloudId) => {
    if (siteId === cloudId) return json({ accountId: user });
    const isSite = settings.sites.some(({ id }) => id === cloudId);
    return isSite ? refuse(403, "The app is not installed on this instance") : refuse(404, "No such site");
  });
  serve("POST", pathname, "mcp", (grant, _cloudId, { id = null }) => {
    const content = [{ type: "text", text: JSON.stringify(sitesOf(grant)) }];
    return json({ jsonrpc: "2.0", id, result: { content } });
  });
}

function refuse(code: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return json({ code, message }, code, headers);
}
