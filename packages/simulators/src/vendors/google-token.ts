/**
 * Google's token endpoint, `POST /token`, and its revocation, `POST /revoke`.
 *
 * Seen 2026-11: form body, secret in the body or Basic, expires_in 3599, no rotation and no
 * refresh_token in a refresh answer, the body of `invalid_rapt`, revocation without client
 * authentication that ends the whole grant and answers 400 `invalid_token` "Token expired or
 * revoked" for a token that is gone (public code).
 * Recalled: the texts and statuses of the other refusals, `refresh_token_expires_in`, an ID token
 * with each refresh.
 */
import type { Context } from "hono";
import { isSecretOf, readCredentials } from "./base/clients.ts";
import { json, queryMembers, readMembers, type Members } from "./base/members.ts";
import { isVerifiedBy } from "./base/pkce.ts";
import type { Grant } from "./base/tokens.ts";
import type { GoogleParts } from "./google-authorize.ts";
import type { GoogleIdentity } from "./google-identity.ts";
import { TESTING_SECONDS, type GoogleRefreshTokens } from "./google-refresh-tokens.ts";
import type { SimulatedClient, VendorEnv } from "./base/simulator.ts";

const ACCESS_SECONDS = 3599;

interface Refusal {
  readonly status: number;
  readonly error: string;
  readonly text: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** By the name `refuseNext("token", …)` uses. */
export const GOOGLE_TOKEN_ERRORS: Readonly<Record<string, Refusal>> = {
  invalid_grant: { status: 400, error: "invalid_grant", text: "Token has been expired or revoked." },
  invalid_rapt: {
    status: 400,
    error: "invalid_grant",
    text: "reauth related error (invalid_rapt)",
    more: { error_subtype: "invalid_rapt", error_uri: "https://support.google.com/a/answer/9368756" },
  },
  invalid_client: { status: 401, error: "invalid_client", text: "The provided client secret is invalid." },
  redirect_uri_mismatch: { status: 400, error: "redirect_uri_mismatch", text: "Bad Request" },
  unauthorized_client: { status: 401, error: "unauthorized_client", text: "Unauthorized" },
  admin_policy_enforced: { status: 400, error: "admin_policy_enforced", text: "Access blocked by the administrator." },
};

export interface GoogleTokenParts extends GoogleParts {
  readonly refreshTokens: GoogleRefreshTokens;
  readonly identity: GoogleIdentity;
}

export function serveGoogleToken(parts: GoogleTokenParts): void {
  const { host } = parts;
  host.app.post("/token", async (c) => {
    const refused = host.takeRefusal("token");
    if (refused !== undefined) return refuse(GOOGLE_TOKEN_ERRORS[refused]!);
    const form = await readMembers(c);
    if (form.encoding !== "form") return wrong("invalid_request", "The request body must be a form.");
    const client = authenticate(parts, c, form);
    if (client instanceof Response) return client;
    if (form.get("grant_type") === "authorization_code") return redeem(parts, client, form);
    if (form.get("grant_type") === "refresh_token") return refresh(parts, client, form);
    return wrong("unsupported_grant_type", "Invalid grant_type");
  });
  host.app.post("/revoke", async (c) => {
    const refused = host.takeRefusal("revocation");
    const value = queryMembers(c).get("token") ?? (await readMembers(c)).get("token");
    const token = host.tokens.find(value);
    if (refused !== undefined || token?.state !== "live") return wrong("invalid_token", "Token expired or revoked");
    endGoogleGrant(parts, token.grant.user, token.grant.clientId);
    return new Response(null, { status: 200 });
  });
}

/** Everything this user allowed this app ends, for either token. */
export function endGoogleGrant({ host, consents }: GoogleParts, user: string, clientId: string): void {
  host.tokens.endGrants((grant) => grant.user === user && grant.clientId === clientId);
  consents.forget(user, clientId);
}

function authenticate({ host }: GoogleParts, c: Context<VendorEnv>, form: Members): SimulatedClient | Response {
  const { clientId, clientSecret } = readCredentials(c, form);
  const client = host.clients.find(clientId);
  if (client === undefined) return wrong("invalid_client", "The OAuth client was not found.", 401);
  if (clientSecret === undefined) return wrong("invalid_request", "client_secret is missing.");
  return isSecretOf(client, clientSecret) ? client : refuse(GOOGLE_TOKEN_ERRORS["invalid_client"]!);
}

async function redeem(parts: GoogleTokenParts, client: SimulatedClient, form: Members): Promise<Response> {
  const { codes, refreshTokens, settings } = parts;
  const code = form.get("code") ?? "";
  const held = codes.find(code);
  if (held?.bound.grant.clientId !== client.clientId) return wrong("invalid_grant", "Malformed auth code.");
  const { grant, redirectUri, challenge, nonce, isOffline } = held.bound;
  if (held.state !== "live") return wrong("invalid_grant", "Bad Request");
  if (form.get("redirect_uri") !== redirectUri) return refuse(GOOGLE_TOKEN_ERRORS["redirect_uri_mismatch"]!);
  const verifier = form.get("code_verifier");
  if (!isVerifiedBy(challenge, verifier)) {
    return wrong("invalid_grant", verifier === undefined ? "Missing code verifier." : "Invalid code verifier.");
  }
  codes.spend(code);
  const lifetime = settings.publishing === "testing" ? { refresh_token_expires_in: TESTING_SECONDS - 1 } : {};
  const offline = isOffline ? { refresh_token: refreshTokens.issue(grant), ...lifetime } : {};
  return json({ ...(await answer(parts, grant, nonce)), ...offline });
}

async function refresh(parts: GoogleTokenParts, client: SimulatedClient, form: Members): Promise<Response> {
  const token = form.get("refresh_token");
  if (token === undefined) return wrong("invalid_request", "Missing required parameter: refresh_token");
  const grant = parts.refreshTokens.use(token, client.clientId);
  if (grant === undefined) return refuse(GOOGLE_TOKEN_ERRORS["invalid_grant"]!);
  if (parts.settings.reauthenticationRequired) return refuse(GOOGLE_TOKEN_ERRORS["invalid_rapt"]!);
  return json(await answer(parts, grant, undefined));
}

async function answer({ host, identity }: GoogleTokenParts, grant: Grant, nonce: string | undefined): Promise<object> {
  const access = host.tokens.issue("access", grant, { prefix: "ya29.", lifetimeSeconds: ACCESS_SECONDS });
  const isOpenId = grant.scopes.includes("openid");
  return {
    access_token: access,
    expires_in: ACCESS_SECONDS,
    scope: grant.scopes.join(" "),
    token_type: "Bearer",
    ...(isOpenId ? { id_token: await identity.idToken(grant, access, nonce) } : {}),
  };
}

function refuse({ status, error, text, more }: Refusal): Response {
  return json({ error, error_description: text, ...more }, status);
}

function wrong(error: string, text: string, status = 400): Response {
  return refuse({ status, error, text });
}
