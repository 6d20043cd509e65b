/**
 * Keyed hashes, and the comparison of secret texts. node:crypto, synchronous: this is the hot path.
 */
import { hash, timingSafeEqual } from "node:crypto";

/** A hash function, and the memory that an HMAC with it is computed in. */
interface MacHash {
  readonly name: "sha256" | "sha512";
  readonly blockBytes: number;
  /** A block, then an input that is short. */
  readonly inner: Buffer;
  /** A block, then a digest. */
  readonly outer: Buffer;
}

const SHORT_BYTES = 4096;
const SHA256 = macHash("sha256", 64, 32);
const SHA512 = macHash("sha512", 128, 64);

function macHash(name: MacHash["name"], blockBytes: number, digestBytes: number): MacHash {
  const inner = Buffer.alloc(blockBytes + SHORT_BYTES);
  return { name, blockBytes, inner, outer: Buffer.alloc(blockBytes + digestBytes) };
}

/**
 * @param input text is taken as UTF-8
 * @returns 32 bytes
 */
export function hmacSha256(key: Buffer, input: string | Buffer): Buffer {
  return hmac(SHA256, key, input);
}

/**
 * @param input text is taken as UTF-8
 * @returns 64 bytes
 */
export function hmacSha512(key: Buffer, input: string | Buffer): Buffer {
  return hmac(SHA512, key, input);
}

/**
 * HMAC (RFC 2104 §2) of two one-shot hashes, which cost half of what an `Hmac` object of node:crypto
 * costs; a digest taken as text costs half of one taken as a buffer.
 */
function hmac(macHash: MacHash, key: Buffer, input: string | Buffer): Buffer {
  const { name, blockBytes, outer } = macHash;
  const bytes = typeof input === "string" && input.length > SHORT_BYTES / 3 ? Buffer.from(input) : input;
  const inner = bytes.length > SHORT_BYTES ? Buffer.alloc(blockBytes + bytes.length) : macHash.inner;
  const block = key.length > blockBytes ? hash(name, key, "buffer") : key;
  inner.fill(0x36, 0, blockBytes);
  outer.fill(0x5c, 0, blockBytes);
  for (let at = 0; at < block.length; at += 1) {
    const byte = block[at] ?? 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  const end = blockBytes + (typeof bytes === "string" ? inner.write(bytes, blockBytes) : bytes.copy(inner, blockBytes));
  outer.write(hash(name, inner.subarray(0, end), "latin1"), blockBytes, "latin1");
  const mac = Buffer.from(hash(name, outer, "latin1"), "latin1");
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
