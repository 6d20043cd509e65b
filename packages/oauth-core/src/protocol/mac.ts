/**
 * Keyed hashes, and the one comparison of secrets. node:crypto, synchronous: this is the hot path.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * @param input text is taken as UTF-8
 * @returns 32 bytes
 */
export function hmacSha256(key: Buffer, input: string | Buffer): Buffer {
  return createHmac("sha256", key).update(input).digest();
}

/**
 * Whether two texts have the same UTF-8 bytes, in a time that depends only on their lengths. The
 * only comparison of secrets and of values derived from them, which
 * tooling/src/secret-comparisons.ts enforces. An absent text equals no text, not even another
 * absent one.
 */
//= bar#HT-9
export function isSameText(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  // UTF-8, not latin1: latin1 folds U+0141 onto "A", which would accept a second spelling of a
  // signature.
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
