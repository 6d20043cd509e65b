/**
 * Bytes in, one sealed string out, bound to its place. Used for everything that is stored or handed
 * out sealed: parked vendor codes, the `connection` value, refresh replays, the keyset, wrapped
 * data keys.
 *
 * Format 1, base64url of: version (1 byte, 0x01) | commitment (32) | IV (12) | ciphertext | tag
 * (16). AES-256-GCM under a key derived from the caller's (key-commitment.ts), the context as
 * associated data (encoding.ts). Synchronous and cheap on purpose: it runs several times in every
 * brokered flow. envelope.golden.json holds envelopes of every released format, all of which must
 * open forever.
 */
import { hkdfSha256 } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../errors.ts";
import { decryptRaw, encryptRaw, freshIv, IV_BYTES, KEY_BYTES, TAG_BYTES } from "./aes-gcm.ts";
import { associatedData, decodeCanonical, utf8 } from "./encoding.ts";
import { COMMITMENT_BYTES, deriveSubkeys, requireCommitment } from "./key-commitment.ts";

const VERSION = 1;
const IV_AT = 1 + COMMITMENT_BYTES;
const CIPHERTEXT_AT = IV_AT + IV_BYTES;
const OVERHEAD_BYTES = CIPHERTEXT_AT + TAG_BYTES;

/** The largest plaintext of an envelope. Callers that store tokens set a lower limit. */
export const MAX_PLAINTEXT_BYTES = 256 * 1024;
const MAX_SEALED_LENGTH = Math.ceil(((MAX_PLAINTEXT_BYTES + OVERHEAD_BYTES) * 4) / 3);

const NO_BYTES = Buffer.alloc(0);

/** `seal` and `open` under one key, whose subkeys are derived once: for a row of several fields. */
export interface Envelopes {
  seal(plaintext: string | Buffer, context: readonly string[]): string;
  open(sealed: string, context: readonly string[]): Buffer;
}

/**
 * Use it at once and release it: it holds the subkeys even after the key itself has been
 * overwritten.
 *
 * @throws TokenStoreError key_invalid; its methods as `seal` and `open`
 */
export function envelopesUnder(key: Buffer): Envelopes {
  const { commitment, encryption } = deriveSubkeys(key);
  return {
    seal: (plaintext, context) => {
      const bytes = typeof plaintext === "string" ? utf8(plaintext) : plaintext;
      //= bar#TS-16
      if (bytes.length > MAX_PLAINTEXT_BYTES)
        throw new TokenStoreError("too_large", { detail: `${bytes.length} bytes` });
      const iv = freshIv();
      const sealed = encryptRaw(encryption, iv, bytes, associatedData(VERSION, context));
      return Buffer.concat([Buffer.of(VERSION), commitment, iv, sealed]).toString("base64url");
    },
    open: (sealed, context) => {
      if (sealed.length > MAX_SEALED_LENGTH) {
        throw new TokenStoreError("too_large", { detail: `${sealed.length} characters` });
      }
      const bytes = decodeCanonical(sealed);
      if (bytes.length === 0) throw new TokenStoreError("unreadable");
      if (bytes[0] !== VERSION) throw new TokenStoreError("format_unknown");
      if (bytes.length < OVERHEAD_BYTES) throw new TokenStoreError("unreadable");
      requireCommitment(commitment, bytes.subarray(1, IV_AT));
      const iv = bytes.subarray(IV_AT, CIPHERTEXT_AT);
      return decryptRaw(encryption, iv, bytes.subarray(CIPHERTEXT_AT), associatedData(VERSION, context));
    },
  };
}

/**
 * Seals a value under a key, for one place.
 *
 * @param key 32 random bytes, or the result of `deriveKey`
 * @param plaintext bytes, or text that becomes UTF-8; at most MAX_PLAINTEXT_BYTES
 * @param context at least one string naming the place of the value (purpose, record, field, …);
 *   the same list opens it
 * @returns base64url without padding, 82 characters and 4 more for every 3 bytes of plaintext
 * @throws TokenStoreError key_invalid, input_invalid, too_large
 */
export function seal(key: Buffer, plaintext: string | Buffer, context: readonly string[]): string {
  return envelopesUnder(key).seal(plaintext, context);
}

/**
 * Opens a value made by `seal`. No plaintext is returned before all of it is authenticated.
 *
 * @param sealed exactly as `seal` returned it: another spelling of the same bytes is refused
 * @throws TokenStoreError unreadable (altered, cut, other key, other context), format_unknown,
 *   too_large, key_invalid, input_invalid
 */
export function open(key: Buffer, sealed: string, context: readonly string[]): Buffer {
  return envelopesUnder(key).open(sealed, context);
}

/**
 * A 32-byte key for one purpose, HKDF-SHA-256 without salt.
 *
 * @param secret unguessable: a key, one of our codes, a refresh token. Not a password, never empty
 * @param info names the purpose; another info gives an unrelated key
 * @throws TokenStoreError key_invalid when the secret is empty, input_invalid when it is not
 *   well-formed text
 * @see rfc5869#2
 */
export function deriveKey(secret: string | Buffer, info: string): Buffer {
  const bytes = typeof secret === "string" ? utf8(secret) : secret;
  if (bytes.length === 0) throw new TokenStoreError("key_invalid", { detail: "an empty secret" });
  return hkdfSha256(bytes, NO_BYTES, utf8(info), KEY_BYTES);
}
