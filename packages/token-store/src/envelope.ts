/**
 * Bytes in, one sealed string out, bound to the place it is meant for. Sits under everything that is kept or handed
 * out closed: parked vendor codes, the `connection` value, refresh replays, the keyset, wrapped data keys.
 *
 * Format 1, base64url of: version (1 byte, 0x01) | commitment (32) | IV (12) | ciphertext | tag (16).
 * Cipher AES-256-GCM. One HMAC-SHA-512 of the key gives both the commitment and the encryption key: the caller's key is
 * already 32 random bytes, so the extract step of HKDF buys nothing (rfc5869#3.3), and one block of expand is enough.
 * Associated data: the format's name, the version and the context strings, each with its length in front (bar TS-3).
 * Synchronous and cheap on purpose: it runs several times in every brokered flow.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomFillSync, timingSafeEqual } from "node:crypto";
import { TokenStoreError } from "./errors.ts";

const VERSION = 1;
const KEY_BYTES = 32;
const COMMITMENT_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const IV_AT = 1 + COMMITMENT_BYTES;
const CIPHERTEXT_AT = IV_AT + IV_BYTES;
const OVERHEAD_BYTES = CIPHERTEXT_AT + TAG_BYTES;

/** The largest plaintext an envelope takes. Tokens are capped at 32 KiB by those who store them. */
export const MAX_PLAINTEXT_BYTES = 256 * 1024;
const MAX_SEALED_LENGTH = Math.ceil(((MAX_PLAINTEXT_BYTES + OVERHEAD_BYTES) * 4) / 3);

const AAD_NAME = Buffer.from(`oauth-broker envelope\0${String.fromCharCode(VERSION)}`);
const SUBKEYS_INFO = Buffer.from("oauth-broker envelope 1: commitment, key\x01");

/**
 * Seals a value under a key, for one place.
 *
 * @param key 32 random bytes, or the result of `deriveKey`
 * @param plaintext bytes, or text that becomes UTF-8; at most MAX_PLAINTEXT_BYTES
 * @param context at least one string naming where the value belongs (purpose, record, field, …); the same list opens it
 * @returns base64url without padding, 82 characters and 4 more for every 3 bytes of plaintext
 * @throws TokenStoreError key_invalid, input_invalid, too_large
 */
export function seal(key: Buffer, plaintext: string | Buffer, context: readonly string[]): string {
  const bytes = typeof plaintext === "string" ? utf8(plaintext) : plaintext;
  if (bytes.length > MAX_PLAINTEXT_BYTES) throw new TokenStoreError("too_large", { detail: `${bytes.length} bytes` });
  const subkeys = deriveSubkeys(key);
  const iv = freshIv();
  const sealed = encryptRaw(subkeys.encryption, iv, bytes, associatedData(context));
  return Buffer.concat([Buffer.of(VERSION), subkeys.commitment, iv, sealed]).toString("base64url");
}

/**
 * Opens what `seal` made. Nothing of the plaintext is released before all of it was authenticated.
 *
 * @param sealed exactly as `seal` returned it: padding, white space or another spelling of the same bytes is refused
 * @throws TokenStoreError unreadable (altered, cut, other key, other context), format_unknown, key_invalid, input_invalid
 */
export function open(key: Buffer, sealed: string, context: readonly string[]): Buffer {
  const bytes = canonicalBytes(sealed);
  if (bytes[0] !== VERSION) throw new TokenStoreError("format_unknown");
  if (bytes.length < OVERHEAD_BYTES) throw new TokenStoreError("unreadable");
  const subkeys = deriveSubkeys(key);
  // GCM alone opens one ciphertext under several keys made for it; the commitment names the one key, so it is compared first.
  //= bar#TS-5
  requireCommitment(subkeys.commitment, bytes.subarray(1, IV_AT));
  return decryptRaw(
    subkeys.encryption,
    bytes.subarray(IV_AT, CIPHERTEXT_AT),
    bytes.subarray(CIPHERTEXT_AT),
    associatedData(context),
  );
}

/**
 * A 32-byte key for one purpose, HKDF-SHA-256 without salt.
 *
 * @param secret unguessable: a key, a code of ours, a refresh token. Not a password, never empty
 * @param info names the purpose; another info gives an unrelated key
 * @throws TokenStoreError key_invalid when the secret is empty, input_invalid when it is not well-formed text
 * @see rfc5869#2
 */
export function deriveKey(secret: string | Buffer, info: string): Buffer {
  const bytes = typeof secret === "string" ? utf8(secret) : secret;
  if (bytes.length === 0) throw new TokenStoreError("key_invalid", { detail: "an empty secret" });
  return hkdfSha256(bytes, EMPTY, utf8(info), KEY_BYTES);
}

/** HKDF-SHA-256, extract and expand. Exported for the published vectors; callers use `deriveKey`. */
export function hkdfSha256(secret: Buffer, salt: Buffer, info: Buffer, lengthBytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, info, lengthBytes));
}

/**
 * AES-256-GCM in the one shape we allow: 32-byte key, 12-byte IV, 16-byte tag.
 * Exported for the published vectors; callers use `seal`.
 *
 * @returns ciphertext with the tag behind it
 */
export function encryptRaw(key: Buffer, iv: Buffer, plaintext: Buffer, aad: Buffer): Buffer {
  requireShape(key, iv);
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([ciphertext, cipher.getAuthTag()]);
}

/** The way back. Exported for the published vectors; callers use `open`. @throws TokenStoreError unreadable, key_invalid */
export function decryptRaw(key: Buffer, iv: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  requireShape(key, iv);
  if (sealed.length < TAG_BYTES) throw new TokenStoreError("unreadable");
  const tagAt = sealed.length - TAG_BYTES;
  try {
    // Without authTagLength Node takes tags of 4 bytes, which can be guessed.
    //= bar#TS-1
    const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(tagAt));
    decipher.setAAD(aad);
    const plaintext = decipher.update(sealed.subarray(0, tagAt));
    decipher.final();
    return plaintext;
  } catch (cause) {
    throw new TokenStoreError("unreadable", { cause });
  }
}

/** Compares in constant time the key named in the envelope with the key at hand. @throws TokenStoreError unreadable */
export function requireCommitment(expected: Buffer, actual: Buffer): void {
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) throw new TokenStoreError("unreadable");
}

/** Length in front of every part: `["ab", "c"]` and `["a", "bc"]` never give the same bytes. */
//= bar#TS-3
export function associatedData(context: readonly string[]): Buffer {
  if (context.length === 0)
    throw new TokenStoreError("input_invalid", { detail: "a context names at least one thing" });
  const parts = [AAD_NAME, uint32(context.length)];
  for (const part of context) {
    const bytes = utf8(part);
    parts.push(uint32(bytes.length), bytes);
  }
  return Buffer.concat(parts);
}

const EMPTY = Buffer.alloc(0);

function deriveSubkeys(key: Buffer): { readonly commitment: Buffer; readonly encryption: Buffer } {
  if (key.length !== KEY_BYTES)
    throw new TokenStoreError("key_invalid", { detail: `${key.length} bytes, not ${KEY_BYTES}` });
  const block = createHmac("sha512", key).update(SUBKEYS_INFO).digest();
  return { commitment: block.subarray(0, COMMITMENT_BYTES), encryption: block.subarray(COMMITMENT_BYTES) };
}

function requireShape(key: Buffer, iv: Buffer): void {
  if (key.length !== KEY_BYTES)
    throw new TokenStoreError("key_invalid", { detail: `${key.length} bytes, not ${KEY_BYTES}` });
  if (iv.length !== IV_BYTES) throw new TokenStoreError("unreadable");
}

// Drawn in one go: asking the system for 12 bytes costs as much as encrypting with them.
const pool = Buffer.alloc(IV_BYTES * 256);
let poolUsed = pool.length;

//= bar#TS-6
function freshIv(): Buffer {
  if (poolUsed === pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  poolUsed += IV_BYTES;
  return Buffer.from(pool.subarray(poolUsed - IV_BYTES, poolUsed));
}

function canonicalBytes(sealed: string): Buffer {
  if (sealed.length > MAX_SEALED_LENGTH)
    throw new TokenStoreError("too_large", { detail: `${sealed.length} characters` });
  const bytes = Buffer.from(sealed, "base64url");
  // Node skips what it does not know while decoding, so one envelope would have many spellings.
  if (bytes.toString("base64url") !== sealed) throw new TokenStoreError("unreadable");
  return bytes;
}

function utf8(text: string): Buffer {
  // Lone surrogates would all become the same replacement character, and two contexts one.
  if (!text.isWellFormed()) throw new TokenStoreError("input_invalid", { detail: "text with a lone surrogate" });
  return Buffer.from(text, "utf8");
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
