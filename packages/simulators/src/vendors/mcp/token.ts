/**
 * The token URL of an MCP authorization server: exchange, refresh and, for a form with `token` and
 * no `grant_type`, revocation. A client is bound to the authentication method it registered with.
 */
import type { Context } from "hono";
import { isSecretOf, readCredentials } from "../base/clients.ts";
import type { VendorEnv } from "../base/simulator.ts";
import { json, readMembers, type Members } from "../base/members.ts";
import { isVerifiedBy } from "../base/pkce.ts";
import type { Grant, HeldToken } from "../base/tokens.ts";
import { oauthError } from "./oauth-errors.ts";
import { authMethodOf, knownClient, type McpClient, type McpState } from "./rules.ts";

interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

interface Exchanged extends Pair {
  readonly until: number;
}

export function serveToken(state: McpState): void {
  const exchanged = new Map<string, Exchanged>();
  state.app.post("/token", async (c) => {
    const members = await readMembers(c);
    const isRevocation = members.get("grant_type") === undefined && members.get("token") !== undefined;
    const forced = state.takeRefusal(isRevocation ? "revocation" : "token");
    if (forced !== undefined) return oauthError(forced);
    const client = authenticate(c, members, state);
    if (client === undefined) return oauthError("invalid_client");
    if (isRevocation) return revoke(client, members, state);
    const grantType = members.get("grant_type");
    if (grantType === "authorization_code") return redeem(client, members, state);
    return grantType === "refresh_token"
      ? refresh(client, members, state, exchanged)
      : oauthError(grantType === undefined ? "invalid_request" : "unsupported_grant_type");
  });
  if (state.rules.hasIntrospection) {
    state.app.post("/introspect", async (c) => {
      const members = await readMembers(c);
      const client = authenticate(c, members, state);
      return client === undefined ? oauthError("invalid_client") : introspect(client, members, state);
    });
  }
}

function authenticate(c: Context<VendorEnv>, members: Members, state: McpState): McpClient | undefined {
  const { method, clientId, clientSecret } = readCredentials(c, members);
  const client = knownClient(state, clientId);
  if (client === undefined || method !== authMethodOf(client)) return undefined;
  return method === "none" || isSecretOf(client, clientSecret) ? client : undefined;
}

function redeem(client: McpClient, members: Members, state: McpState): Response {
  const code = members.get("code") ?? "";
  const found = state.codes.find(code);
  if (found === undefined || found.bound.clientId !== client.clientId) return oauthError("invalid_grant");
  const { bound } = found;
  if (found.state === "spent") {
    // RFC 6749 4.1.2: a code that is used twice has its tokens revoked.
    state.tokens.endGrants(({ id }) => id === bound.grantId);
    return oauthError("invalid_grant", "The code was used before");
  }
  if (found.state === "expired") return oauthError("invalid_grant", "The code has expired");
  if (members.get("redirect_uri") !== bound.redirectUri) return oauthError("invalid_grant", "redirect_uri");
  if (!isVerifiedBy(bound.challenge, members.get("code_verifier"))) return oauthError("invalid_grant", "code_verifier");
  state.codes.spend(code);
  const grant = { id: bound.grantId, user: bound.user.id, clientId: client.clientId, scopes: bound.scopes };
  return answer(grant, issue(grant, state), state);
}

function refresh(client: McpClient, members: Members, state: McpState, exchanged: Map<string, Exchanged>): Response {
  const { tokens, rules, now } = state;
  const found = ownToken(client, members.get("refresh_token"), state);
  if (found?.kind !== "refresh") return oauthError("invalid_grant");
  const before = exchanged.get(found.value);
  if (found.state === "rotated" && before !== undefined && now() < before.until) {
    return answer(found.grant, before, state);
  }
  if (found.state !== "live") return oauthError("invalid_grant", "The refresh token was used, revoked or has expired");
  tokens.end(found.value, "rotated");
  const pair = issue(found.grant, state);
  exchanged.set(found.value, { ...pair, until: now() + rules.replayWindowSeconds });
  return answer(found.grant, pair, state);
}

/**
 * A refresh token ends its grant, an access token only itself. Unknown ones are accepted (RFC 7009
 * 2.2).
 */
function revoke(client: McpClient, members: Members, state: McpState): Response {
  const token = ownToken(client, members.get("token"), state);
  if (token?.kind === "refresh") state.tokens.endGrants(({ id }) => id === token.grant.id);
  if (token !== undefined) state.tokens.end(token.value, "revoked");
  return new Response(null, { status: 200 });
}

function introspect(client: McpClient, members: Members, state: McpState): Response {
  const token = ownToken(client, members.get("token"), state);
  if (token?.state !== "live") return json({ active: false });
  const { grant, issuedAt, expiresAt } = token;
  return json({
    active: true,
    client_id: grant.clientId,
    sub: grant.user,
    scope: grant.scopes.join(" "),
    iat: issuedAt,
    ...(expiresAt === undefined ? {} : { exp: expiresAt }),
  });
}

function ownToken(client: McpClient, value: string | undefined, { tokens }: McpState): HeldToken | undefined {
  const token = tokens.find(value);
  return token?.grant.clientId === client.clientId ? token : undefined;
}

function issue(grant: Grant, { tokens, rules }: McpState): Pair {
  return {
    accessToken: tokens.issue("access", grant, { lifetimeSeconds: rules.accessLifetimeSeconds }),
    refreshToken: tokens.issue("refresh", grant),
  };
}

function answer(grant: Grant, { accessToken, refreshToken }: Pair, { tokens, now }: McpState): Response {
  return json({
    access_token: accessToken,
    token_type: "bearer",
    expires_in: (tokens.find(accessToken)?.expiresAt ?? now()) - now(),
    refresh_token: refreshToken,
    scope: grant.scopes.join(" "),
  });
}
