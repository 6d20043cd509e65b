/**
 * Which members of a published key set may verify a signature, or encrypt. A bad key is left out as if it were not there; a
 * set that is out of proportion is refused whole. Called for every set that is loaded: a vendor's by jwks.ts, a client's by
 * encrypted-response.ts.
 */
import { createPublicKey } from "node:crypto";
import type { JWK } from "jose";
import type { JsonObject, JsonValue } from "../../ports.ts";
import { isObject } from "../answer.ts";
import { invalidVendorResponse } from "../errors.ts";

const MAX_KEYS = 100;
const MIN_RSA_BITS = 2048;
/** Members of private and symmetric keys. Who publishes one has lost it. */
const SECRET_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const KEY_TYPES: ReadonlySet<JsonValue | undefined> = new Set(["RSA", "EC", "OKP"]);

/** What somebody else's public key is for. */
export type KeyUse = "sig" | "enc";

const KEY_OPERATIONS: Readonly<Record<KeyUse, (operations: readonly JsonValue[]) => boolean>> = {
  sig: (operations) => operations.length === 1 && operations[0] === "verify",
  // None at all is how WebCrypto exports a public key for ECDH.
  enc: (operations) =>
    operations.every((operation) => typeof operation === "string" && ENCRYPTING_OPERATIONS.has(operation)),
};
const ENCRYPTING_OPERATIONS: ReadonlySet<string> = new Set(["encrypt", "wrapKey", "deriveKey", "deriveBits"]);

/**
 * @param set the parsed document at `jwks_uri`
 * @param use a key that says it is for something else is left out
 * @returns the keys left, public and of their declared shape
 * @throws OAuthError vendor_response_invalid when it is no key set or has more than 100 keys
 */
//= bar#JW-3
export function usableKeys(set: JsonObject, use: KeyUse = "sig"): JWK[] {
  const { keys } = set;
  if (!Array.isArray(keys)) throw invalidVendorResponse("key set: no keys member");
  if (keys.length > MAX_KEYS) throw invalidVendorResponse(`key set: ${keys.length} keys`);
  const usable = keys.filter((key: JsonValue): key is JsonObject => isObject(key) && isUsable(key, use));
  return usable.filter((key) => !isDuplicate(key, usable));
}

function isUsable(key: JsonObject, purpose: KeyUse): boolean {
  const { kty, use, key_ops: keyOps, kid, alg } = key;
  if (!KEY_TYPES.has(kty) || SECRET_MEMBERS.some((member) => key[member] !== undefined)) return false;
  if (use !== undefined && use !== purpose) return false;
  if (keyOps !== undefined && !(Array.isArray(keyOps) && KEY_OPERATIONS[purpose](keyOps))) return false;
  if ((kid !== undefined && typeof kid !== "string") || (alg !== undefined && typeof alg !== "string")) return false;
  return isSoundKey(key);
}

/** A point off its curve, a modulus that is short, an exponent that does nothing. */
function isSoundKey(jwk: JsonObject): boolean {
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType !== "rsa" || ((modulusLength ?? 0) >= MIN_RSA_BITS && (publicExponent ?? 0n) >= 3n);
  } catch {
    return false;
  }
}

/** Two keys under one name: which is meant cannot be told, so neither is. */
function isDuplicate(key: JsonObject, keys: readonly JsonObject[]): boolean {
  return (
    key.kid !== undefined &&
    keys.some((other) => other !== key && other.kid === key.kid && other.kty === key.kty && sameAlg(other, key))
  );
}

function sameAlg(one: JsonObject, other: JsonObject): boolean {
  return one.alg === undefined || other.alg === undefined || one.alg === other.alg;
}
