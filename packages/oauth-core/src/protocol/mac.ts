/**
 * Keyed hashes, and the comparison of secret texts. node:crypto, synchronous: this is the hot path.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";

const BLOCK_BYTES = { sha256: 64, sha512: 128 } as const;
const SHORT_BYTES = 4096;
/** A block, then an input that is short. */
const inner = Buffer.alloc(BLOCK_BYTES.sha512 + SHORT_BYTES);
/** A block, then a digest. */
const outer = Buffer.alloc(BLOCK_BYTES.sha512 + 64);

/**
 * @param input text is taken as UTF-8
 * @returns 32 bytes
 */
export function hmacSha256(key: Buffer, input: string | Buffer): Buffer {
  return hmac("sha256", key, input);
}

/** As `hmacSha256`. @returns 64 bytes */
export function hmacSha512(key: Buffer, input: string | Buffer): Buffer {
  return hmac("sha512", key, input);
}

/**
 * For a short input two one-shot hashes (RFC 2104 §2), which cost half of an `Hmac` object of
 * node:crypto; a digest taken as text costs half of one taken as a buffer.
 */
function hmac(name: keyof typeof BLOCK_BYTES, key: Buffer, input: string | Buffer): Buffer {
  const blockBytes = BLOCK_BYTES[name];
  const bytes = typeof input === "string" ? Buffer.from(input) : input;
  if (key.length > blockBytes || bytes.length > SHORT_BYTES) return createHmac(name, key).update(bytes).digest();
  inner.fill(0x36, 0, blockBytes);
  outer.fill(0x5c, 0, blockBytes);
  for (let at = 0; at < key.length; at += 1) {
    const byte = key[at] ?? 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  const end = blockBytes + bytes.copy(inner, blockBytes);
  const digestBytes = outer.write(hash(name, inner.subarray(0, end), "latin1"), blockBytes, "latin1");
  const mac = Buffer.from(hash(name, outer.subarray(0, blockBytes + digestBytes), "latin1"), "latin1");
  // The key can be read from its pads, and the input may be a secret.
  inner.fill(0, 0, end);
  outer.fill(0);
  return mac;
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
