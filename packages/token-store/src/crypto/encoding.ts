/**
 * Encodings with one spelling per value. Values become the bytes that AES-GCM and the MACs
 * authenticate, and sealed text becomes bytes again; in both directions no two inputs give the same
 * result.
 */
import { TokenStoreError } from "../errors.ts";

const NAME = "oauth-broker envelope";
const LENGTH_BYTES = 4;

/**
 * The place an envelope belongs to. Every part is prefixed with its length, so the parts cannot be
 * split differently: `["ab", "c"]` and `["a", "bc"]` are two places.
 *
 * @param version of the envelope's format, 1 byte
 * @param context at least one string
 * @throws TokenStoreError input_invalid
 */
export function associatedData(version: number, context: readonly string[]): Buffer {
  if (context.length === 0) {
    throw new TokenStoreError("input_invalid", { detail: "a context names at least one thing" });
  }
  // Measured first, then written once: this runs in every seal and open, and many small buffers
  // cost twice as much.
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
 * Text as UTF-8, refusing what UTF-8 cannot represent: lone surrogates would all become the same
 * replacement character, and two contexts would become one.
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

/**
 * Node's decoder skips unknown characters: a sealed value with padding, white space or other unused
 * bits would open as well, and code that compares or hashes sealed values would see a
 * different value.
 *
 * @returns the bytes of base64url without padding
 * @throws TokenStoreError unreadable for any other spelling
 */
export function decodeCanonical(text: string): Buffer {
  const bytes = Buffer.from(text, "base64url");
  //= bar#TS-1
  if (bytes.toString("base64url") !== text) throw new TokenStoreError("unreadable");
  return bytes;
}
