/**
 * Key sets by the URL they are published at: vendors' signing keys, and keys that clients publish.
 * Our small cache over jose's look-up: an unknown key id triggers a reload at once, because
 * vendors do rotate between two logins, but at most twice a minute. A bad key is left out; an
 * oversized set is refused whole.
 */
import { createPublicKey } from "node:crypto";
import { createLocalJWKSet, errors, type CryptoKey, type JWK, type JWSHeaderParameters } from "jose";
import type { Clock, Fetch, JsonObject, JsonValue, Timer } from "../../ports.ts";
import { SECRET_MEMBERS } from "../../protocol/secret.ts";
import { isJsonObject, withoutNulls } from "../../protocol/strict-json.ts";
import { readObject, requireAnswer } from "../answer.ts";
import { VENDOR_OPERATION_SECONDS } from "../deadline.ts";
import { createRefreshingCache, type RefreshingCache } from "../discovery/cache.ts";
import { invalidVendorResponse, translateVendorError, type VendorCall } from "../errors.ts";

export interface SigningKeys {
  /**
   * The one key of the set that matches the header.
   *
   * @param options.isRefuted the key that was found is not the signer's: its vendor may have
   *   replaced it under the same `kid`, or without one, so the set is fetched again first
   * @throws OAuthError vendor_response_invalid when none matches, or several do and the header does
   *   not say which; temporarily_unavailable when the set cannot be fetched, or not before the
   *   signal fires
   */
  find(
    jwksUri: string,
    header: JWSHeaderParameters,
    signal?: AbortSignal,
    options?: { readonly isRefuted: boolean },
  ): Promise<CryptoKey>;
}

/** What key sets are fetched with. */
export interface KeySetDeps {
  readonly fetch: Fetch;
  readonly now: Clock;
  readonly timer: Timer;
}

const CALL: VendorCall = { what: "key set", spends: false };

/**
 * Key sets by their URL.
 *
 * @param read what is kept of one; its errors go to the caller
 */
export function createKeySets<T>(read: (set: JsonObject) => T, deps: KeySetDeps): RefreshingCache<T> {
  return createRefreshingCache(async (jwksUri) => loadKeySet(jwksUri, read, deps), deps.now);
}

/**
 * @returns the key look-up of ID tokens; a `kid` that the kept set lacks has the set fetched again,
 *   at most twice a minute. `find` throws OAuthError vendor_response_invalid, reason
 *   `id_token_invalid`, if no key fits
 * @see rfc7517#5
 */
export function createSigningKeys(deps: KeySetDeps): SigningKeys {
  const sets = createKeySets((set) => createLocalJWKSet({ keys: usableKeys(set) }), deps);
  return {
    find: async (jwksUri, header, signal, { isRefuted } = { isRefuted: false }) => {
      const deadline = signal === undefined ? undefined : () => signal;
      const known = await sets.get(jwksUri, deadline);
      try {
        if (!isRefuted) return await known(header);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw noKey(error);
      }
      //= bar#JW-1
      const reloaded = await sets.reload(jwksUri, deadline);
      try {
        return await reloaded(header);
      } catch (error) {
        throw noKey(error);
      }
    },
  };
}

async function loadKeySet<T>(
  jwksUri: string,
  read: (set: JsonObject) => T,
  { fetch, now, timer }: KeySetDeps,
): Promise<T> {
  try {
    const response = await fetch(jwksUri, {
      headers: { accept: "application/json, application/jwk-set+json" },
      redirect: "manual",
      signal: timer.timeout(VENDOR_OPERATION_SECONDS * 1000),
    });
    requireAnswer(response, CALL, now);
    if (response.status !== 200) throw invalidVendorResponse(`key set: status ${response.status}`);
    return read(await readObject(response, CALL));
  } catch (error) {
    throw translateVendorError(error, CALL);
  }
}

function noKey(error: unknown): unknown {
  if (!(error instanceof errors.JOSEError)) return error;
  return invalidVendorResponse(`signing keys: ${error.code}`, { reason: "id_token_invalid", cause: error });
}

/** Whether `find` found no key for the header, in a set that was just read. */
export function isUnpublishedKey(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof errors.JWKSNoMatchingKey;
}

const MAX_KEYS = 100;
const MIN_RSA_BITS = 2048;
const KEY_TYPES: ReadonlySet<JsonValue | undefined> = new Set(["RSA", "EC", "OKP"]);

/** The purpose of another party's public key. */
export type KeyUse = "sig" | "enc";

const KEY_OPERATIONS: Readonly<Record<KeyUse, (operations: readonly JsonValue[]) => boolean>> = {
  sig: (operations) => operations.length === 1 && operations[0] === "verify",
  // WebCrypto exports a public key for ECDH without any key_ops.
  enc: (operations) =>
    operations.every((operation) => typeof operation === "string" && ENCRYPTING_OPERATIONS.has(operation)),
};
const ENCRYPTING_OPERATIONS: ReadonlySet<string> = new Set(["encrypt", "wrapKey", "deriveKey", "deriveBits"]);

/**
 * @param set the parsed document at `jwks_uri`
 * @param use a key that says it is for something else is left out
 * @returns the keys left, public and of their declared shape
 * @throws OAuthError vendor_response_invalid when it is not a key set or has more than 100 keys
 */
//= bar#JW-3
export function usableKeys(set: JsonObject, use: KeyUse = "sig"): JWK[] {
  const { keys } = set;
  if (!Array.isArray(keys)) throw invalidVendorResponse("key set: no keys member");
  //= bar#JW-3
  if (keys.length > MAX_KEYS) throw invalidVendorResponse(`key set: ${keys.length} keys`);
  const named = keys.filter(isJsonObject).map(withoutNulls);
  const usable = withoutRepeats(named.filter((key) => isUsable(key, use)));
  return usable.filter((key) => !isAmbiguous(key, usable));
}

function isUsable(key: JsonObject, purpose: KeyUse): boolean {
  const { kty, use, key_ops: keyOps, kid, alg } = key;
  if (!KEY_TYPES.has(kty) || SECRET_MEMBERS.some((member) => key[member] !== undefined)) return false;
  if (use !== undefined && use !== purpose) return false;
  if (keyOps !== undefined && !(Array.isArray(keyOps) && KEY_OPERATIONS[purpose](keyOps))) return false;
  if ((kid !== undefined && typeof kid !== "string") || (alg !== undefined && typeof alg !== "string")) return false;
  return isSoundKey(key);
}

/** A point off its curve, a short modulus, an exponent of 1. */
function isSoundKey(jwk: JsonObject): boolean {
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
    //= bar#JW-3
    return key.asymmetricKeyType !== "rsa" || ((modulusLength ?? 0) >= MIN_RSA_BITS && (publicExponent ?? 0n) >= 3n);
  } catch {
    return false;
  }
}

/** Two keys with the same kid: the meant one is ambiguous, so neither is used. */
function isAmbiguous(key: JsonObject, keys: readonly JsonObject[]): boolean {
  return (
    key.kid !== undefined &&
    keys.some((other) => other !== key && other.kid === key.kid && other.kty === key.kty && sameAlg(other, key))
  );
}

/** The same key listed again, with other words about it, says nothing new. */
function withoutRepeats(keys: readonly JsonObject[]): JsonObject[] {
  return keys.filter((key, index) => !keys.slice(0, index).some((earlier) => isSameKey(earlier, key)));
}

/** The members that make a public key, of every type. */
const KEY_MEMBERS = ["kty", "crv", "x", "y", "n", "e", "kid"] as const;

function isSameKey(one: JsonObject, other: JsonObject): boolean {
  return sameAlg(one, other) && KEY_MEMBERS.every((member) => one[member] === other[member]);
}

function sameAlg(one: JsonObject, other: JsonObject): boolean {
  return one.alg === undefined || other.alg === undefined || one.alg === other.alg;
}
