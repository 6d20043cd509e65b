/**
 * The CiphertextBlob: opaque to callers, it names its key and the material that sealed it, and opens only with the
 * encryption context it was made with.
 *
 *     version 1 | length of key id 1 | key id | number of material 2 | SHA-256 of the context 32 | IV 12 | tag 16 | ciphertext
 *
 * All before the IV is authenticated data. The context is there as a digest, and is compared before the key is used,
 * so that a test can have a KMS that does not compare it (`ignoreEncryptionContext`).
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { kmsError } from "./errors.ts";
import type { Key } from "./keys.ts";
import type { EncryptionContext } from "./members.ts";

const VERSION = 1;
const DIGEST_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Pairs sorted by name, every text preceded by its length in 4 bytes: no two contexts have the same
 * form.
 */
export function canonicalContext(context: EncryptionContext): Buffer {
  const pairs = Object.entries(context).map(([name, value]) => [Buffer.from(name), Buffer.from(value)] as const);
  pairs.sort(([one], [other]) => Buffer.compare(one, other));
  return Buffer.concat(pairs.flat().flatMap((text) => [uint(text.length, 4), text]));
}

export function sealBlob(key: Key, plaintext: Buffer, context: EncryptionContext): Buffer {
  const number = key.materials.length - 1;
  const id = Buffer.from(key.id);
  const header = Buffer.concat([uint(VERSION, 1), uint(id.length, 1), id, uint(number, 2), digest(context)]);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", material(key, number), iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(header);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([header, iv, cipher.getAuthTag(), ciphertext]);
}

export interface ParsedBlob {
  readonly keyId: string;
  /**
   * @throws Error named InvalidCiphertextException for another key, another context, a changed blob
   */
  open(key: Key, context: EncryptionContext | "ignored"): Buffer;
}

/** @throws Error named InvalidCiphertextException */
export function parseBlob(blob: Buffer): ParsedBlob {
  const headerLength = 2 + (blob[1] ?? 0) + 2 + DIGEST_BYTES;
  const start = headerLength + IV_BYTES + TAG_BYTES;
  if (blob[0] !== VERSION || blob.length < start) throw kmsError("InvalidCiphertextException");
  const header = blob.subarray(0, headerLength);
  const boundTo = header.subarray(-DIGEST_BYTES);
  return {
    keyId: header.subarray(2, headerLength - DIGEST_BYTES - 2).toString(),
    open(key, context) {
      if (context !== "ignored" && !digest(context).equals(boundTo)) throw kmsError("InvalidCiphertextException");
      try {
        const number = header.readUInt16BE(headerLength - DIGEST_BYTES - 2);
        const iv = blob.subarray(headerLength, headerLength + IV_BYTES);
        const cipher = createDecipheriv("aes-256-gcm", material(key, number), iv, { authTagLength: TAG_BYTES });
        cipher.setAAD(header);
        cipher.setAuthTag(blob.subarray(headerLength + IV_BYTES, start));
        return Buffer.concat([cipher.update(blob.subarray(start)), cipher.final()]);
      } catch {
        throw kmsError("InvalidCiphertextException");
      }
    },
  };
}

function material(key: Key, number: number): Buffer {
  const bytes = key.materials[number];
  if (bytes === undefined) throw kmsError("InvalidCiphertextException");
  return bytes;
}

function digest(context: EncryptionContext): Buffer {
  return createHash("sha256").update(canonicalContext(context)).digest();
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
