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
import { ACCOUNTS } from "../vendor-pages.ts";
import { bearerToken, isSecretOf, readCredentials } from "./base/clients.ts";
import { createCodes } from "./base/codes.ts";
import { callbackUrl, type VendorHost } from "./base/host.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { json, queryMembers, readMembers, type Members } from "./base/members.ts";
import { newGrant, type Grant, type HeldToken } from "./base/tokens.ts";
import { oauthError } from "./mcp/oauth-errors.ts";
import type { McpClient } from "./mcp/rules.ts";

export interface NotionClient extends McpClient {
  /**
   * In the API app flow: whether tokens come with a refresh token; else the member is null. Default
   * true.
   */
  readonly refreshTokens?: boolean;
}

type Host = VendorHost<NotionClient>;

interface Bound {
  readonly grant: Grant;
  readonly redirectUri: string;
}

const CODE_LIFETIME_SECONDS = 600;

const API_ERRORS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  unauthorized: [401, "API token is invalid."],
  restricted_resource: [403, "Insufficient permissions for this endpoint."],
  validation_error: [400, "body failed validation."],
  missing_version: [400, "Notion-Version header failed validation."],
  rate_limited: [429, "You have been rate limited. Please try again in a few minutes."],
};

export const NOTION_API_ERRORS = Object.keys(API_ERRORS);

export function serveNotionApi(host: Host): void {
  const codes = createCodes<Bound>(CODE_LIFETIME_SECONDS, host);
  host.app.get("/v1/oauth/authorize", (c) => authorize(c, host, codes));
  host.app.post("/v1/oauth/token", async (c) => {
    const members = await readMembers(c);
    const forced = host.takeRefusal("token");
    if (forced !== undefined) return oauthError(forced);
    const client = authenticate(c, members, host);
    if (client === undefined) return oauthError("invalid_client");
    if (members.encoding !== "json") return oauthError("invalid_request", "The body must be JSON");
    if (members.get("grant_type") === "refresh_token") return refresh(client, members, host);
    if (members.get("grant_type") !== "authorization_code") return oauthError("unsupported_grant_type");
    return redeem(client, members, host, codes);
  });
  host.app.post("/v1/oauth/revoke", (c) =>
    withToken(c, host, (token) => {
      if (token?.state !== "live") return apiError("validation_error");
      host.tokens.endGrants(({ id }) => id === token.grant.id);
      return json({ request_id: randomUUID() });
    }),
  );
  host.app.post("/v1/oauth/introspect", (c) =>
    withToken(c, host, (token) => {
      if (token?.state !== "live") return json({ active: false, request_id: randomUUID() });
      return json({ active: true, scope: "", iat: token.issuedAt, request_id: randomUUID() });
    }),
  );
  host.app.get("/v1/users/me", (c) => {
    const forced = host.takeRefusal("api");
    if (forced !== undefined) return apiError(forced);
    if (c.req.header("Notion-Version") === undefined) return apiError("missing_version");
    const token = host.tokens.find(bearerToken(c));
    if (token?.state !== "live" || token.kind !== "access") return apiError("unauthorized");
    return json({ object: "user", type: "bot", bot: { owner: ownerOf(token.grant.user), workspace_name: WORKSPACE } });
  });
}

async function authorize(
  c: Context<VendorEnv>,
  host: Host,
  codes: ReturnType<typeof createCodes<Bound>>,
): Promise<Response> {
  const query = queryMembers(c);
  const client = host.clients.find(query.get("client_id"));
  const redirectUri = query.get("redirect_uri");
  if (client === undefined) return host.consent.refuse(c, "There is no such integration.", "invalid_client");
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
    return host.consent.refuse(c, "Missing or invalid redirect_uri.", "invalid_redirect_uri");
  }
  const always = { state: query.get("state") };
  const fail = (error: string) => ({ redirect: callbackUrl(redirectUri, { error, ...always }) });
  const isComplete = query.get("response_type") === "code" && query.get("owner") === "user";
  const error = host.takeRefusal("authorization") ?? (isComplete ? undefined : "invalid_request");
  if (error !== undefined) return c.redirect(fail(error).redirect, 302);
  return host.consent.ask(c, {
    app: client.name ?? client.clientId,
    permissions: [{ scope: "pages", text: "Read and change the pages you pick" }],
    questions: (user) =>
      html`<p>
          <label><input type="checkbox" name="page" value="home" checked /> ${user.name}: Home</label>
        </p>
        <p>
          <label><input type="checkbox" name="page" value="notes" checked /> ${user.name}: Notes</label>
        </p>`,
    onAllow: (user, form) => {
      const grant = newGrant({ user: user.id, clientId: client.clientId, scopes: form.getAll("page") });
      return { redirect: callbackUrl(redirectUri, { code: codes.issue({ grant, redirectUri }), ...always }) };
    },
    onCancel: () => fail("access_denied"),
  });
}

function redeem(
  client: NotionClient,
  members: Members,
  host: Host,
  codes: ReturnType<typeof createCodes<Bound>>,
): Response {
  const code = members.get("code") ?? "";
  const found = codes.find(code);
  const isGood = found?.state === "live" && found.bound.grant.clientId === client.clientId;
  if (!isGood || members.get("redirect_uri") !== found.bound.redirectUri) return oauthError("invalid_grant");
  codes.spend(code);
  return answer(client, found.bound.grant, host);
}

function refresh(client: NotionClient, members: Members, host: Host): Response {
  const found = host.tokens.find(members.get("refresh_token"));
  const isGood = found?.state === "live" && found.kind === "refresh" && found.grant.clientId === client.clientId;
  if (!isGood) return oauthError("invalid_grant", "Token has been expired or revoked.");
  host.tokens.endGrants(({ id }) => id === found.grant.id, "rotated");
  return answer(client, found.grant, host);
}

const WORKSPACE = "Sample workspace";

function answer(client: NotionClient, grant: Grant, { tokens }: Host): Response {
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

/** With Basic, JSON and the version header; the token of this client, in any state. */
async function withToken(
  c: Context<VendorEnv>,
  host: Host,
  work: (token: HeldToken | undefined) => Response,
): Promise<Response> {
  const forced = host.takeRefusal("api");
  if (forced !== undefined) return apiError(forced);
  const members = await readMembers(c);
  const client = authenticate(c, members, host);
  if (client === undefined) return apiError("unauthorized");
  if (c.req.header("Notion-Version") === undefined) return apiError("missing_version");
  const value = members.get("token");
  if (members.encoding !== "json" || value === undefined) return apiError("validation_error");
  const token = host.tokens.find(value);
  return work(token?.grant.clientId === client.clientId ? token : undefined);
}

function authenticate(c: Context<VendorEnv>, members: Members, { clients }: Host): NotionClient | undefined {
  const { method, clientId, clientSecret } = readCredentials(c, members);
  const client = clients.find(clientId);
  const isProven = client !== undefined && method === "client_secret_basic" && isSecretOf(client, clientSecret);
  return isProven ? client : undefined;
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
