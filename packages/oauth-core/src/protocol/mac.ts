/**
 * Keyed hashes, and keys derived by them. Synchronous: this is the hot path. HMAC and HKDF are composed of one-shot hashes of node:crypto, because its `Hmac` and
 * `hkdfSync` cost a whole flow an eighth of its CPU more (docs/decisions/0040-mechanics-from-libraries.md).
 */
import { createHmac, hash } from "node:crypto";

const BLOCK_BYTES = { sha256: 64, sha512: 128 } as const;
const HKDF_MAX_BYTES = 255 * 32;
const SHORT_BYTES = 4096;
/** A block, then an input that is short. */
const inner = Buffer.alloc(BLOCK_BYTES.sha512 + SHORT_BYTES);
/** A block, then a digest. */
const outer = Buffer.alloc(BLOCK_BYTES.sha512 + 64);

/**
 * HMAC. Not to be interrupted: the memory of one call is the next one's.
 *
 * @param input text is taken as UTF-8
 * @returns 32 bytes, or 64 with SHA-512
 * @see rfc2104#2
 */
export function hmac(name: keyof typeof BLOCK_BYTES, key: Buffer, input: string | Buffer): Buffer {
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
  // A digest taken as text costs half of one taken as a buffer.
  const digestBytes = outer.write(hash(name, inner.subarray(0, end), "latin1"), blockBytes, "latin1");
  const mac = Buffer.from(hash(name, outer.subarray(0, blockBytes + digestBytes), "latin1"), "latin1");
  // The key can be read from its pads, and the input may be a secret.
  inner.fill(0, 0, end);
  outer.fill(0);
  return mac;
}

/**
 * HKDF-SHA-256, extract and expand.
 *
 * @param lengthBytes at most 8160
 * @throws RangeError for more
 */
export function hkdfSha256(secret: Buffer, salt: Buffer, info: Buffer, lengthBytes: number): Buffer {
  if (lengthBytes > HKDF_MAX_BYTES) throw new RangeError(`${lengthBytes} bytes, not at most ${HKDF_MAX_BYTES}`);
  const extracted = hmac("sha256", salt, secret);
  const blocks: Buffer[] = [];
  let block: Buffer = Buffer.alloc(0);
  //= rfc5869#2
  for (let made = 0; made < lengthBytes; made += block.length) {
    block = hmac("sha256", extracted, Buffer.concat([block, info, Buffer.of(blocks.length + 1)]));
    blocks.push(block);
  }
  return Buffer.concat(blocks, lengthBytes);
}
