/** Keyed hashes of our own, and the one comparison of secrets. node:crypto, synchronous: this is the hot path. */
import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * @param input text is taken as UTF-8
 * @returns 32 bytes
 */
export function hmacSha256(key: Buffer, input: string | Buffer): Buffer {
  return createHmac("sha256", key).update(input).digest();
}

/**
 * Whether two texts have the same bytes in UTF-8, in a time that depends only on their lengths. The one way to compare secrets and
 * what is made of them, which tooling/src/secret-comparisons.ts sees to. An absent text is the same as none, not even another.
 */
//= bar#HT-9
export function isSameText(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  // UTF-8, not latin1: the latter folds U+0141 onto "A", which would let a second spelling of a signature in.
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
