/**
 * The place an envelope belongs to, as bytes that AES-GCM authenticates. Every part has its length in front, so the parts
 * cannot be cut differently: `["ab", "c"]` and `["a", "bc"]` are two places.
 */
import { TokenStoreError } from "../errors.ts";

const NAME = "oauth-broker envelope";
const LENGTH_BYTES = 4;

/**
 * @param version of the envelope's format, 1 byte
 * @param context at least one string
 * @throws TokenStoreError input_invalid
 */
export function associatedData(version: number, context: readonly string[]): Buffer {
  if (context.length === 0) {
    throw new TokenStoreError("input_invalid", { detail: "a context names at least one thing" });
  }
  // Measured first, then written in one go: this runs in every seal and open, and many small buffers cost twice as much.
  let length = NAME.length + 1 + LENGTH_BYTES;
  for (const part of context) {
    requireWellFormed(part);
    length += LENGTH_BYTES + Buffer.byteLength(part, "utf8");
  }
  const bytes = Buffer.allocUnsafe(length);
  let at = bytes.write(NAME, "latin1");
  at = bytes.writeUInt8(version, at);
  at = bytes.writeUInt32BE(context.length, at);
  for (const part of context) {
    const written = bytes.write(part, at + LENGTH_BYTES, "utf8");
    //= bar#TS-3
    at = bytes.writeUInt32BE(written, at) + written;
  }
  return bytes;
}

/**
 * Text as UTF-8, refusing what UTF-8 cannot hold: lone surrogates would all become the same replacement character, and
 * two contexts one.
 *
 * @throws TokenStoreError input_invalid
 */
export function utf8(text: string): Buffer {
  requireWellFormed(text);
  return Buffer.from(text, "utf8");
}

function requireWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new TokenStoreError("input_invalid", { detail: "text with a lone surrogate" });
}
