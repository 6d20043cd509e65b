/**
 * Notion's API app flow: no scopes, the person picks pages; Basic and a JSON body.
 *
 * Seen (https://developers.notion.com/reference/create-a-token, /refresh-a-token, /revoke-token,
 * /introspect-token, read by 2026-11-21): Basic, JSON, the members of the answer, a refresh_token
 * that may be null, a refresh that gives a new pair, `request_id` on revoke, `active`, `scope` and
 * `iat` on introspect, Notion-Version asked for on those two.
 * Seen (https://nango.dev/blog/notion-oauth-refresh-token-invalid-grant): 400 invalid_grant in
 * OAuth's form on the token call.
 * Recalled: the error object of API calls and its codes, `owner=user` asked for, token prefixes,
 * /v1/users/me.
 * Assumed: a refresh ends the old pair at once; revoking a token ends its pair; one that is gone
 * answers 400.
 */
import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { html } from "hono/html";
import { ACCOUNTS } from "../pages.ts";
import { authenticate } from "./base/clients.ts";
import { createCodes, type Bound, type Codes } from "./base/codes.ts";
import { wayBack, type VendorHost } from "./base/host.ts";
import { json, queryMembers, type Members } from "./base/members.ts";
import type { RegisteredClient } from "./base/registration.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { newGrant, type Grant, type HeldToken } from "./base/tokens.ts";
import { oauthError } from "./mcp/oauth-errors.ts";

export interface NotionClient extends RegisteredClient {
  /**
   * In the API app flow: whether tokens come with a refresh token; else the member is null. Default
   * true.
   */
  readonly refreshTokens?: boolean;
}

type Host = VendorHost<NotionClient>;

const API_ERRORS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  unauthorized: [401, "API token is invalid."],
  restricted_resource: [403, "Insufficient permissions for this endpoint."],
  validation_error: [400, "body failed validation."],
  missing_version: [400, "Notion-Version header failed validation."],
  rate_limited: [429, "You have been rate limited. Please try again in a few minutes."],
};

export const NOTION_API_ERRORS = Object.keys(API_ERRORS);

const isVersioned = (c: Context<VendorEnv>): boolean => c.req.header("Notion-Version") !== undefined;

export function serveNotionApi(host: Host): void {
  const { app, tokens } = host;
  const codes = createCodes<Bound>(host);
  const known = (c: Context<VendorEnv>, members: Members) =>
    authenticate(c, members, host.clients, () => "client_secret_basic");
  app.get("/v1/oauth/authorize", (c) => authorize(c, host, codes));
  host.serve(
    "/v1/oauth/token",
    "token",
    (error) => oauthError(error),
    (c, members) => {
      const client = known(c, members);
      if (client === undefined) return oauthError("invalid_client");
      if (members.encoding !== "json") return oauthError("invalid_request", "The body must be JSON");
      return exchange(client, members, host, codes);
    },
  );
  /** With Basic, JSON and the version header; the token of this client, in any state. */
  const withToken = (path: string, answer: (token: HeldToken | undefined) => Response): void =>
    host.serve(path, "api", apiError, (c, members) => {
      const client = known(c, members);
      if (client === undefined) return apiError("unauthorized");
      if (!isVersioned(c)) return apiError("missing_version");
      const value = members.get("token");
      if (members.encoding !== "json" || value === undefined) return apiError("validation_error");
      return answer(tokens.find(value, undefined, client.clientId));
    });
  withToken("/v1/oauth/revoke", (token) => {
    if (token?.state !== "live") return apiError("validation_error");
    tokens.endGrants(({ id }) => id === token.grant.id);
    return json({ request_id: randomUUID() });
  });
  withToken("/v1/oauth/introspect", (token) => {
    if (token?.state !== "live") return json({ active: false, request_id: randomUUID() });
    return json({ active: true, scope: "", iat: token.issuedAt, request_id: randomUUID() });
  });
  const whoAmI = (c: Context<VendorEnv>): Response => {
    if (!isVersioned(c)) return apiError("missing_version");
    const token = host.access(c);
    if (token === undefined) return apiError("unauthorized");
    return json({ object: "user", type: "bot", bot: { owner: ownerOf(token.grant.user), workspace_name: WORKSPACE } });
  };
  host.serve("/v1/users/me", "api", apiError, whoAmI, ["GET"]);
}

async function authorize(c: Context<VendorEnv>, host: Host, codes: Codes<Bound>): Promise<Response> {
  const query = queryMembers(c);
  const client = host.clients.find(query.get("client_id"));
  const redirectUri = query.get("redirect_uri");
  if (client === undefined) return host.consent.refuse(c, "There is no such integration.", "invalid_client");
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
    return host.consent.refuse(c, "Missing or invalid redirect_uri.", "invalid_redirect_uri");
  }
  const { clientId, name = clientId } = client;
  const back = wayBack(redirectUri, { state: query.get("state") });
  const isComplete = query.get("response_type") === "code" && query.get("owner") === "user";
  const error = host.takeRefusal("authorization") ?? (isComplete ? undefined : "invalid_request");
  if (error !== undefined) return c.redirect(back({ error }).redirect);
  return host.consent.ask(c, {
    app: name,
    permissions: [{ scope: "pages", text: "Read and change the pages you pick" }],
    questions: (user) =>
      html`<p>
          <label><input type="checkbox" name="page" value="home" checked /> ${user.name}: Home</label>
        </p>
        <p>
          <label><input type="checkbox" name="page" value="notes" checked /> ${user.name}: Notes</label>
        </p>`,
    onAllow: ({ id: user }, form) => {
      const grant = newGrant({ user, clientId, scopes: form.getAll("page") });
      return back({ code: codes.issue({ grant, redirectUri }) });
    },
    onCancel: () => back({ error: "access_denied" }),
  });
}

function exchange(client: NotionClient, members: Members, { tokens }: Host, codes: Codes<Bound>): Response {
  const grantType = members.get("grant_type");
  if (grantType === "authorization_code") {
    return codes.redeem<Response>(members, client, {
      refuse: () => oauthError("invalid_grant"),
      answer: ({ grant }) => answer(client, grant, tokens),
    });
  }
  if (grantType !== "refresh_token") return oauthError("unsupported_grant_type");
  const found = tokens.find(members.get("refresh_token"), "refresh", client.clientId);
  if (found?.state !== "live") return oauthError("invalid_grant", "Token has been expired or revoked.");
  tokens.endGrants(({ id }) => id === found.grant.id, "rotated");
  return answer(client, found.grant, tokens);
}

const WORKSPACE = "Sample workspace";

function answer(client: NotionClient, grant: Grant, tokens: Host["tokens"]): Response {
  const refreshToken = client.refreshTokens === false ? null : tokens.issue("refresh", grant, { prefix: "nrt_" });
  return json({
    access_token: tokens.issue("access", grant, { prefix: "ntn_" }),
    token_type: "bearer",
    refresh_token: refreshToken,
    bot_id: grant.id,
    workspace_id: "5a3d1d6e-0000-4000-8000-000000000001",
    workspace_name: WORKSPACE,
    workspace_icon: null,
    owner: ownerOf(grant.user),
    duplicated_template_id: null,
    request_id: randomUUID(),
  });
}

function ownerOf(id: string): object {
  const account = ACCOUNTS.find((one) => one.id === id);
  const person = { object: "user", id, name: account?.name, avatar_url: null, type: "person" };
  return { type: "user", user: { ...person, person: { email: account?.email } } };
}

function apiError(code: string): Response {
  const [status, message] = API_ERRORS[code] ?? [400, code];
  return json({ object: "error", status, code, message, request_id: randomUUID() }, status);
}
