/**
 * Who a person is at Microsoft: metadata per tenant path, keys, and ID tokens.
 *
 * Seen: an ID token comes with openid (entra-docs).
 * Recalled: the issuer of `organizations` and `common` holds a literal
 * `{tenantid}`, an ID token the signed-in tenant's own, and `tid` with `oid` names the person while
 * `sub` differs by app.
 * Left out: userinfo, which is Graph's and takes no token of another resource.
 */
import { createHash } from "node:crypto";
import { ACCOUNTS } from "../pages.ts";
import { json } from "./base/members.ts";
import { isSharedPath, tenantAt, type MicrosoftGrant, type Microsoft } from "./microsoft-settings.ts";

const LIFETIME_SECONDS = 3600;

/** @param tenant a tenant id, `organizations`, `common`, or a placeholder */
export function microsoftEndpoints(url: string, tenant: string): Record<string, string> {
  const issuedBy = isSharedPath(tenant) ? "{tenantid}" : tenant;
  return {
    issuer: `${url}/${issuedBy}/v2.0`,
    authorization_endpoint: `${url}/${tenant}/oauth2/v2.0/authorize`,
    token_endpoint: `${url}/${tenant}/oauth2/v2.0/token`,
    jwks_uri: `${url}/${tenant}/discovery/v2.0/keys`,
  };
}

/** Serves the metadata and the keys. */
export function serveMicrosoftIdentity({ host, settings, signer }: Microsoft): void {
  host.app.get("/:tenant/v2.0/.well-known/openid-configuration", (c) => {
    const path = c.req.param("tenant");
    if (tenantAt(settings, path) === undefined) return json({ error: "invalid_tenant" }, 400);
    return json({
      ...microsoftEndpoints(host.url, path),
      response_modes_supported: ["query"],
      response_types_supported: ["code"],
      subject_types_supported: ["pairwise"],
      id_token_signing_alg_values_supported: ["RS256"],
      scopes_supported: ["openid", "profile", "email", "offline_access"],
      token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt", "client_secret_basic"],
    });
  });
  host.app.get("/:tenant/discovery/v2.0/keys", async () => json(await signer.jwks()));
}

export function microsoftIdToken(
  { host, settings, signer }: Microsoft,
  { user, clientId, tenantId: ownTenant, scopes }: MicrosoftGrant,
  nonce: string | undefined,
): Promise<string> {
  const tenantId = settings.idTokenTenant ?? ownTenant;
  const account = ACCOUNTS.find(({ id }) => id === user);
  const hash = (...parts: readonly string[]) => createHash("sha256").update(JSON.stringify(parts)).digest();
  return signer.sign({
    aud: clientId,
    iss: `${host.url}/${tenantId}/v2.0`,
    iat: host.now(),
    nbf: host.now(),
    exp: host.now() + LIFETIME_SECONDS,
    ...(scopes.includes("profile") ? { name: account?.name, preferred_username: account?.email } : {}),
    ...(nonce === undefined ? {} : { nonce }),
    oid: guidOf(hash(tenantId, user)),
    sub: hash(tenantId, user, clientId).toString("base64url"),
    tid: tenantId,
    ver: "2.0",
  });
}

function guidOf(hash: Buffer): string {
  const hex = hash.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
