/**
 * Keyed hashes, and the comparison of secret texts. node:crypto, synchronous: this is the hot path.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * @param input text is taken as UTF-8
 * @returns 32 bytes
 */
export function hmacSha256(key: Buffer, input: string | Buffer): Buffer {
  // Half a microsecond less than a digest taken as a buffer.
  return Buffer.from(createHmac("sha256", key).update(input).digest("latin1"), "latin1");
}

/**
 * Whether two texts have the same UTF-8 bytes, in a time that depends only on their lengths. How
 * texts that are secret, or derived from a secret, are compared; bytes are compared with
 * timingSafeEqual, and tooling/src/code/secret-comparisons.ts refuses `===` and `.equals()`. An
 * absent text equals no text, not even another absent one.
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
