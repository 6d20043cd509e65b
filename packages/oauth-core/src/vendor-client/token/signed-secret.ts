/**
 * A client secret that is a JWT signed with a key of the client's: short-lived, and a new one for every request, so that none
 * is kept anywhere. Called by vendor-binding.ts for vendors whose entry says so (`clientSecret`).
 */
import { SignJWT } from "jose";
import type { Clock } from "../../ports.ts";
import type { SignedClientSecret } from "../../vendors/dialect.ts";
import type { ClientSigningKey } from "../../vendors/vendor.ts";

/** @returns a compact JWS: `iss` the team, `sub` the client, `aud` the vendor's, `kid` the key's id */
//= rfc7519#4.1
export async function signClientSecret(
  clientId: string,
  { teamId, keyId, privateKey }: ClientSigningKey,
  { alg, audience, lifetimeSeconds }: SignedClientSecret,
  now: Clock,
): Promise<string> {
  const at = now();
  return new SignJWT()
    .setProtectedHeader({ alg, kid: keyId })
    .setIssuer(teamId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt(at)
    .setExpirationTime(at + lifetimeSeconds)
    .sign(privateKey);
}
