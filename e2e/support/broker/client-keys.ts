/**
 * Key pairs of clients that authenticate with private_key_jwt, and a server that publishes the
 * public half.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

export type ClientKeys = Awaited<ReturnType<typeof createClientKeys>>;
/** `jwks` is public, as JSON: YAML reads it as a mapping. */
export async function createClientKeys(kid: string, alg: "ES256" | "Ed25519" = "ES256") {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
  const sign = (claims: JWTPayload) => new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKey);
  return { privateKey, kid, jwks: JSON.stringify({ keys: [jwk] }), sign };
}

export type PublishedKeys = Awaited<ReturnType<typeof publishKeys>>;
export async function publishKeys(jwks: string) {
  const { url, received, close } = await startScriptedVendor({
    "*": { headers: { "Content-Type": "application/json" }, body: jwks },
  });
  return {
    jwksUri: `${url}/jwks.json`,
    /** How often it was requested. */
    count: () => received.length,
    close,
  };
}
