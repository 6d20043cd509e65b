/**
 * The place an envelope belongs to, as bytes that AES-GCM authenticates. Every part has its length in front, so the parts
 * cannot be cut differently: `["ab", "c"]` and `["a", "bc"]` are two places.
 */
import { TokenStoreError } from "../errors.ts";

const NAME = Buffer.from("oauth-broker envelope");

/**
 * @param version of the envelope's format, 1 byte
 * @param context at least one string
 * @throws TokenStoreError input_invalid
 */
export function associatedData(version: number, context: readonly string[]): Buffer {
  if (context.length === 0) {
    throw new TokenStoreError("input_invalid", { detail: "a context names at least one thing" });
  }
  const parts = [NAME, Buffer.of(version), uint32(context.length)];
  for (const part of context) {
    const bytes = utf8(part);
    //= bar#TS-3
    parts.push(uint32(bytes.length), bytes);
  }
  return Buffer.concat(parts);
}

/**
 * Text as UTF-8, refusing what UTF-8 cannot hold: lone surrogates would all become the same replacement character, and
 * two contexts one.
 *
 * @throws TokenStoreError input_invalid
 */
export function utf8(text: string): Buffer {
  if (!text.isWellFormed()) throw new TokenStoreError("input_invalid", { detail: "text with a lone surrogate" });
  return Buffer.from(text, "utf8");
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
