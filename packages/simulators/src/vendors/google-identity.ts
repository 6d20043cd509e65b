/**
 * Who a person is at Google: ID tokens, keys, userinfo and the metadata that names them.
 *
 * Seen 2026-11: RS256, `iss` with or without scheme, `hd` for a Workspace domain (catalogue
 * `google`).
 * Seen (npm google-auth-library 10.9.1 oauth2client.js; kevinstrax/hanon-uta token-info):
 * tokeninfo takes a POST with the token as Bearer and says whose and for whom it is.
 * Recalled: the other claims, userinfo's and tokeninfo's refusals, that `sub` is included with
 * openid only, and that both well-known documents say the same.
 */
import { createHash } from "node:crypto";
import { ACCOUNTS } from "../pages.ts";
import type { VendorHost } from "./base/host.ts";
import { json } from "./base/members.ts";
import type { SimulatedClient } from "./base/simulator.ts";
import type { Grant } from "./base/tokens.ts";
import { createIdTokenSigner } from "./id-tokens.ts";

export type GoogleIdentity = ReturnType<typeof serveGoogleIdentity>;

const LIFETIME_SECONDS = 3600;

/**
 * Serves `/oauth2/v3/certs`, `/v1/userinfo`, `/tokeninfo` and the metadata.
 *
 * @param hasScheme whether `iss` of the next ID token has it
 */
export function serveGoogleIdentity(
  host: VendorHost<SimulatedClient>,
  hasScheme: () => boolean,
  endpoints: Readonly<Record<string, string>>,
) {
  const signer = createIdTokenSigner("google");
  const metadata = {
    ...endpoints,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    scopes_supported: ["openid", "email", "profile"],
    token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
    code_challenge_methods_supported: ["plain", "S256"],
  };
  host.app.get("/.well-known/openid-configuration", () => json(metadata));
  host.app.get("/.well-known/oauth-authorization-server", () => json(metadata));
  host.app.get("/oauth2/v3/certs", async () => json(await signer.jwks()));
  host.app.get("/v1/userinfo", (c) => {
    const token = host.access(c);
    if (token !== undefined) return json(claimsOf(token.grant));
    return json({ error: "invalid_request", error_description: "Invalid Credentials" }, 401);
  });
  host.app.post("/tokeninfo", (c) => {
    const token = host.access(c);
    if (token === undefined) return json({ error: "invalid_token", error_description: "Invalid Value" }, 400);
    const { grant, expiresAt = host.now() } = token;
    const { clientId, scopes, user } = grant;
    return json({
      azp: clientId,
      aud: clientId,
      ...(scopes.includes("openid") ? { sub: subjectOf(user) } : {}),
      scope: scopes.join(" "),
      exp: String(expiresAt),
      expires_in: String(expiresAt - host.now()),
      access_type: "offline",
    });
  });
  return {
    idToken(grant: Grant, accessToken: string, nonce: string | undefined): Promise<string> {
      const iss = hasScheme() ? host.url : host.url.replace(/^https?:\/\//, "");
      const half = createHash("sha256").update(accessToken).digest().subarray(0, 16);
      return signer.sign({
        iss,
        azp: grant.clientId,
        aud: grant.clientId,
        ...claimsOf(grant),
        at_hash: half.toString("base64url"),
        ...(nonce === undefined ? {} : { nonce }),
        iat: host.now(),
        exp: host.now() + LIFETIME_SECONDS,
      });
    },
  };
}

function claimsOf({ user, scopes }: Grant): Record<string, unknown> {
  const account = ACCOUNTS.find(({ id }) => id === user);
  const has = (name: string) =>
    scopes.includes(name) || scopes.some((scope) => scope.endsWith(`/auth/userinfo.${name}`));
  const email = account?.email ?? "";
  return {
    sub: subjectOf(user),
    ...(has("email") ? { email, email_verified: true, hd: email.split("@")[1] } : {}),
    ...(has("profile") ? { name: account?.name } : {}),
  };
}

/** 21 digits, as Google's are. */
function subjectOf(user: string): string {
  const number = createHash("sha256").update(user).digest().readBigUInt64BE();
  return `1${number.toString().padStart(20, "0")}`;
}
