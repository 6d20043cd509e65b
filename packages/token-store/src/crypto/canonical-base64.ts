/**
 * One spelling for the same bytes. Node's decoder skips what it does not know, so a sealed value with padding, white space
 * or other unused bits would open as well; whoever compares, counts or hashes sealed values would see a new one.
 */
import { TokenStoreError } from "../errors.ts";

/** @returns the bytes of base64url without padding @throws TokenStoreError unreadable for any other spelling */
export function decodeCanonical(text: string): Buffer {
  const bytes = Buffer.from(text, "base64url");
  //= bar#TS-1
  if (bytes.toString("base64url") !== text) throw new TokenStoreError("unreadable");
  return bytes;
}
