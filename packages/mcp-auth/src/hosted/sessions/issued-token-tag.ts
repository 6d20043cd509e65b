/** The tag at the end of every token we issue: what proves that it was ours. issued-token.ts says what it stands in. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** With the 52 bytes before it 66, which are whole base64url characters: there is one spelling of every token. */
export const TAG_BYTES = 14;

/** What a tag is made with. */
export interface TokenTagging {
  /** 32 bytes, `derive("token-tag")`. */
  readonly key: Buffer;
  /** What the tokens are good for: the URL of `/mcp`. A server beside this one, on the same table, has another. */
  readonly audience: string;
}

/** @param head all of a token before its tag @returns TAG_BYTES bytes */
export function tokenTag(prefix: string, head: Buffer, { key, audience }: TokenTagging): Buffer {
  return createHmac("sha256", key).update(`${prefix}\0${audience}\0`).update(head).digest().subarray(0, TAG_BYTES);
}

/** @param tag TAG_BYTES bytes, as presented */
export function isTokenTag(tag: Buffer, prefix: string, head: Buffer, tagging: TokenTagging): boolean {
  return timingSafeEqual(tag, tokenTag(prefix, head, tagging));
}
