/**
 * Token responses encrypted to one client: a proxy between us and the client, or a log of the
 * traffic, sees a compact JWE (`token_encrypted_response_alg`). The key is chosen before anything
 * is spent, because a client without a usable key could not read the response. Before it: the
 * client is authenticated. After it: the grant, then http/answers.ts.
 */
import { CompactEncrypt, importJWK, type CryptoKey, type JWK } from "jose";
import { OAuthError } from "../protocol/errors.ts";
import { clientKeysUnavailable } from "./client.ts";
import { createKeySets, type KeySetDeps, usableKeys } from "../vendor-client/id-token/jwks.ts";

/**
 * Not supported: RSA1_5 and RSA-OAEP (padding oracles, SHA-1), `dir`, A*KW and PBES2 (they need a
 * shared secret), and the shorter key wraps, which add nothing to A256KW.
 */
//= rfc7518#4.1
export const RESPONSE_ENCRYPTION_ALGS = ["ECDH-ES", "ECDH-ES+A256KW", "RSA-OAEP-256"] as const;
/** One of each construction, both with 256-bit security. */
//= rfc7518#5.1
export const RESPONSE_ENCRYPTION_ENCS = ["A256GCM", "A256CBC-HS512"] as const;

/** How the content key is encrypted (RFC 7518 §4.1). */
export type ResponseEncryptionAlg = (typeof RESPONSE_ENCRYPTION_ALGS)[number];
type ResponseEncryptionEnc = (typeof RESPONSE_ENCRYPTION_ENCS)[number];

/** What a client registered. */
export type EncryptedResponse = {
  readonly alg: ResponseEncryptionAlg;
  readonly enc: ResponseEncryptionEnc;
} & ({ readonly key: JWK } | { readonly jwksUri: string; readonly alsoSigns: boolean });

/** @returns the compact JWE of the body as JSON */
type EncryptResponse = (body: object) => Promise<string>;

/** Encrypts token answers for a client, as compact JWE (RFC 7516). */
export interface ResponseEncryption {
  /**
   * Imports the key and encrypts with it once, to prove that it works.
   *
   * @throws OAuthError temporarily_unavailable when the client's key set cannot be fetched
   *   (`client_keys_unavailable`) or holds no suitable key (`client_key_missing`)
   */
  prepare(registered: EncryptedResponse): Promise<EncryptResponse>;
}

const CURVES: ReadonlySet<string | undefined> = new Set(["P-256", "P-384", "P-521"]);

function isForAlg({ kty, crv, alg: ownAlg }: JWK, alg: ResponseEncryptionAlg): boolean {
  if (ownAlg !== undefined && ownAlg !== alg) return false;
  if (alg === "RSA-OAEP-256") return kty === "RSA";
  return (kty === "EC" && CURVES.has(crv)) || (kty === "OKP" && crv === "X25519");
}

/**
 * The first suitable key, so that a client rotates by putting the new key in front. A key that
 * declares encryption as its purpose is preferred to one that declares nothing.
 *
 * @param keys usable for `enc`
 * @param alsoSigns the client also signs with keys of this set: a key without a declared purpose is
 *   then a signing key
 */
//= rfc7517#4.2
export function findEncryptionKey(
  keys: readonly JWK[],
  alg: ResponseEncryptionAlg,
  alsoSigns: boolean,
): JWK | undefined {
  const fitting = keys.filter((key) => isForAlg(key, alg));
  return fitting.find(saysEncryption) ?? (alsoSigns ? undefined : fitting[0]);
}

function saysEncryption({ use, alg, key_ops: operations = [] }: JWK): boolean {
  return use !== undefined || alg !== undefined || operations.length > 0;
}

/**
 * @returns the encryption of token answers; keys of a `jwks_uri` are kept for a while, and fetched
 *   again if no key fits
 */
export function createResponseEncryption(deps: KeySetDeps): ResponseEncryption {
  const sets = createKeySets((set) => usableKeys(set, "enc"), deps);
  const published = async (jwksUri: string, alg: ResponseEncryptionAlg, alsoSigns: boolean): Promise<JWK> => {
    try {
      const known = findEncryptionKey(await sets.get(jwksUri), alg, alsoSigns);
      const key = known ?? findEncryptionKey(await sets.reload(jwksUri), alg, alsoSigns);
      if (key !== undefined) return key;
    } catch (cause) {
      throw clientKeysUnavailable(cause);
    }
    throw noKey(`no key for ${alg} at jwks_uri`);
  };
  return {
    prepare: async (registered) => {
      const { alg, enc } = registered;
      const jwk = "key" in registered ? registered.key : await published(registered.jwksUri, alg, registered.alsoSigns);
      const key = await provenKey(jwk, alg);
      return async (body) => encrypt(JSON.stringify(body), { alg, enc, jwk, key });
    },
  };
}

/** Cached by the JWK as it was loaded: a key that failed stays failed until another is loaded. */
const provenKeys = new WeakMap<JWK, Promise<CryptoKey>>();

/**
 * Some keys parse and still cannot be used, for example a point of low order. The check runs before
 * a code is spent.
 */
async function provenKey(jwk: JWK, alg: ResponseEncryptionAlg): Promise<CryptoKey> {
  const proving = provenKeys.get(jwk) ?? proveKey(jwk, alg);
  provenKeys.set(jwk, proving);
  try {
    return await proving;
  } catch (cause) {
    throw noKey("the key cannot be used", cause);
  }
}

async function proveKey(jwk: JWK, alg: ResponseEncryptionAlg): Promise<CryptoKey> {
  // Only the members that define the key: WebCrypto refuses some operations that JWKs rightly name.
  const { kty, crv, x, y, n, e } = jwk;
  const bare = Object.fromEntries(Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined));
  const key = (await importJWK(bare as JWK, alg)) as CryptoKey;
  await encrypt("{}", { alg, enc: "A256GCM", jwk, key });
  return key;
}

/**
 * `typ` is plain JWT: any party can encrypt to a public key, so a type of our own would prove
 * nothing.
 */
//= rfc7516#7.1
//= rfc7519#5.1
function encrypt(
  payload: string,
  { alg, enc, jwk, key }: { alg: string; enc: string; jwk: JWK; key: CryptoKey },
): Promise<string> {
  return new CompactEncrypt(Buffer.from(payload))
    .setProtectedHeader({ alg, enc, typ: "JWT", ...(jwk.kid === undefined ? {} : { kid: jwk.kid }) })
    .encrypt(key);
}

function noKey(detail: string, cause?: unknown): OAuthError {
  return new OAuthError("temporarily_unavailable", "The key set of the client has no key to encrypt the response to", {
    reason: "client_key_missing",
    detail,
    cause,
  });
}
