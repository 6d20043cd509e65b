/**
 * AES-256-GCM with the only parameters we allow: 32-byte key, 12-byte IV, 16-byte tag. Used by
 * envelope.ts only; its own module so that the published vectors run through exactly the code that
 * seals.
 */
import { createCipheriv, createDecipheriv, randomFillSync } from "node:crypto";
import { TokenStoreError } from "../errors.ts";

export const KEY_BYTES = 32;
export const IV_BYTES = 12;
export const TAG_BYTES = 16;

/**
 * @returns the ciphertext with the tag appended
 * @throws TokenStoreError key_invalid, input_invalid for any other length
 */
export function encryptRaw(key: Buffer, iv: Buffer, plaintext: Buffer, aad: Buffer): Buffer {
  requireShape(key, iv);
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([ciphertext, cipher.getAuthTag()]);
}

/**
 * Returns the plaintext only after all of it, and the associated data, is authenticated.
 *
 * @param sealed the ciphertext with its tag appended
 * @throws TokenStoreError unreadable; key_invalid, input_invalid for any other length
 */
export function decryptRaw(key: Buffer, iv: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  requireShape(key, iv);
  if (sealed.length < TAG_BYTES) throw new TokenStoreError("unreadable");
  const tagAt = sealed.length - TAG_BYTES;
  try {
    // By default Node accepts tags of 4 bytes, which can be guessed.
    //= bar#TS-1
    const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(tagAt));
    decipher.setAAD(aad);
    const plaintext = decipher.update(sealed.subarray(0, tagAt));
    //= bar#TS-2
    decipher.final();
    return plaintext;
  } catch (cause) {
    throw new TokenStoreError("unreadable", { cause });
  }
}

/**
 * @throws TokenStoreError key_invalid, also for zeros: the cache overwrites a released key with
 *   zeros
 */
export function requireKey(key: Buffer): void {
  if (key.length !== KEY_BYTES) {
    throw new TokenStoreError("key_invalid", { detail: `${key.length} bytes, not ${KEY_BYTES}` });
  }
  //= bar#TS-13
  if (key.equals(NO_KEY)) throw new TokenStoreError("key_invalid", { detail: "a key that was overwritten" });
}

const NO_KEY = Buffer.alloc(KEY_BYTES);

//= bar#TS-20
function requireShape(key: Buffer, iv: Buffer): void {
  requireKey(key);
  if (iv.length !== IV_BYTES) {
    throw new TokenStoreError("input_invalid", { detail: `an IV of ${iv.length} bytes, not ${IV_BYTES}` });
  }
}

// Drawn in batches: asking the system for 12 bytes costs half as much as encrypting with them.
const pool = Buffer.alloc(IV_BYTES * 256);
let poolUsed = pool.length;

/** 96 random bits, never returned twice by this process. */
export function freshIv(): Buffer {
  if (poolUsed === pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  //= bar#TS-6
  poolUsed += IV_BYTES;
  return Buffer.from(pool.subarray(poolUsed - IV_BYTES, poolUsed));
}
