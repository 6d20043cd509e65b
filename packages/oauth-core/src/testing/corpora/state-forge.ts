/**
 * Builds JWS values with any header, payload and key, so that one thing can be wrong at a time.
 * Only for forging in tests.
 */
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { EpochSeconds } from "../../ports.ts";

export interface StateTarget {
  readonly key: Buffer;
  readonly kid: string;
  readonly audience: string;
  readonly now: EpochSeconds;
  /** Defaults to `state+jwt`. */
  readonly typ?: string;
}

export const encode = (text: string | Buffer): string => Buffer.from(text).toString("base64url");
const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Members, or a string that is the JSON itself. */
export type Json = object | string | number | null;

export function compact(header: Json, payload: Json, key: Buffer | string, hash = "sha256"): string {
  return mac(`${encode(asText(header))}.${encode(asText(payload))}`, key, hash);
}

export function mac(input: string, key: Buffer | string, hash = "sha256"): string {
  return `${input}.${createHmac(hash, key).update(input).digest("base64url")}`;
}

export function headerOf({ kid, typ = "state+jwt" }: StateTarget) {
  return { alg: "HS256", typ, kid };
}

export function payloadOf({ audience, now }: StateTarget) {
  return { aud: audience, jti: "Zm9vYmFyYmF6cXV4Zm9vYg", ctx: "Y29udGV4dA", iat: now - 10, exp: now + 590 };
}

/** Keys that are registered nowhere. */
export const ATTACKER = {
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ec: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ed: generateKeyPairSync("ed25519"),
};

export function asymmetric(header: Json, payload: Json, key: KeyObject): string {
  const input = `${encode(asText(header))}.${encode(asText(payload))}`;
  const hash = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  return `${input}.${encode(sign(hash, Buffer.from(input), { key, dsaEncoding: "ieee-p1363" }))}`;
}
