/**
 * Derives two values from the key of an envelope: the encryption key, and a value that identifies
 * the key. GCM alone is not committing: one ciphertext can be made to open under several keys, each
 * giving another text. The identified key rules that out.
 */
import { timingSafeEqual } from "node:crypto";
import { hmac } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../errors.ts";
import { requireKey } from "./aes-gcm.ts";

export const COMMITMENT_BYTES = 32;

const INFO = Buffer.from("oauth-broker envelope 1: commitment, key\x01");

/**
 * One HMAC-SHA-512, its 64 bytes cut in two: the expand step of HKDF with a single block. The
 * extract step is left out, as rfc5869#3.3 allows, because the key is already 32 uniformly random
 * bytes.
 *
 * @returns 32 bytes beside the ciphertext, which reveal only whether two keys are the same, and 32
 *   bytes for AES
 * @throws TokenStoreError key_invalid unless the key has 32 bytes
 */
export function deriveSubkeys(key: Buffer): { readonly commitment: Buffer; readonly encryption: Buffer } {
  requireKey(key);
  const block = hmac("sha512", key, INFO);
  return { commitment: block.subarray(0, COMMITMENT_BYTES), encryption: block.subarray(COMMITMENT_BYTES) };
}

/**
 * Compares the key identified in an envelope with the given key, in constant time.
 *
 * @throws TokenStoreError unreadable when they differ
 */
export function requireCommitment(expected: Buffer, actual: Buffer): void {
  //= bar#TS-5
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) throw new TokenStoreError("unreadable");
}
