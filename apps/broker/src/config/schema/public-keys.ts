/**
 * Validates the public keys of a client in the file. The rules are those for a published key set,
 * but a bad key, which is skipped in a published set, is an error here. key-uses.ts checks that the
 * set has the keys its client needs.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "@oauth-broker/oauth-core";
import { usableKeys } from "@oauth-broker/oauth-core/vendor-client";
import { SECRET_MEMBERS } from "@oauth-broker/oauth-core/protocol";

/** @param value a key set, or the same as JSON text, which file:PATH yields */
export function readKeySet(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/**
 * Accepts keys for signatures and for encryption.
 * @param value as `readKeySet` returns it
 */
//= rfc7517#5
//= bar#JW-3
export function checkPublicKeys(value: unknown): string | undefined {
  const keys = typeof value === "object" && value !== null && "keys" in value ? value.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > 100)
    return "must be a key set: { keys: [ … ] } with 1 to 100 keys";
  //= rfc7518#3.3
  //= rfc7518#4.3
  const usable: ReadonlySet<unknown> = new Set([...usableKeys({ keys }), ...usableKeys({ keys }, "enc")]);
  const bad = keys.findIndex((key) => !usable.has(key));
  return bad === -1 ? undefined : `has a key (number ${bad + 1}) that ${whyUnusable(keys[bad] as JsonValue)}`;
}

function whyUnusable(key: JsonValue): string {
  if (!isJsonObject(key) || key["kty"] === undefined || key["kty"] === "oct")
    return "is not an asymmetric JSON Web Key";
  if (SECRET_MEMBERS.some((name) => key[name] !== undefined)) return "is a private key: give the public half only";
  if (isUsable(key)) return "has the same kid as another";
  const { use: _use, key_ops: _operations, ...bare } = key;
  if (isUsable(bare))
    return "neither verifies nor encrypts: use is sig or enc, and key_ops [verify] or those of encryption, where given";
  return "cannot be used: it must be EC, OKP, or RSA of at least 2048 bits, with a sound value and a kid that is text";
}

function isUsable(key: JsonObject): boolean {
  return usableKeys({ keys: [key] }).length + usableKeys({ keys: [key] }, "enc").length > 0;
}
