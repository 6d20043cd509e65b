/**
 * A vendor's signing key and the ID tokens it signs with it. Used by the vendors that support
 * OpenID Connect.
 */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose";

export type IdTokenSigner = ReturnType<typeof createIdTokenSigner>;

type Key = Awaited<ReturnType<typeof makeKey>>;

/** By vendor: to make one takes longer than most tests of it. */
const shared = new Map<string, Promise<Key>>();

/**
 * One RS256 key, made when first needed.
 *
 * @param vendor all simulators of it in this process have the same key
 */
export function createIdTokenSigner(vendor: string) {
  const key = (): Promise<Key> => {
    const made = shared.get(vendor) ?? makeKey();
    shared.set(vendor, made);
    return made;
  };
  return {
    /** What the vendor publishes at its `jwks_uri`. */
    jwks: async () => ({ keys: [(await key()).published] }),
    /** @param claims all of them, `iat` and `exp` too: time is the vendor's */
    async sign(claims: Readonly<Record<string, unknown>>): Promise<string> {
      const { privateKey, published } = await key();
      const header = { alg: "RS256", typ: "JWT", kid: published.kid };
      return new SignJWT({ ...claims }).setProtectedHeader(header).sign(privateKey);
    },
  };
}

async function makeKey() {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const jwk = await exportJWK(publicKey);
  const published = { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: "RS256", use: "sig" };
  return { privateKey, published };
}
