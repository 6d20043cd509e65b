/**
 * The tokens this server issues: opaque to all others, typed by their prefix, and recognisable
 * without reading the store.
 *
 * `mcp_at_` (access) or `mcp_rt_` (refresh), then 88 characters, base64url of 66 bytes: session id
 * (16) | generation (4, how often the session had been refreshed) | secret (32, random) | tag (14).
 * The tag is an HMAC under a key of the server over prefix, audience and everything before it. It
 * proves that this server once issued the token, for itself, with this type, and no more: the
 * session's record, which holds the SHA-256 of valid tokens, decides whether it is valid now. The
 * secret is in the token alone, so the store and the key together still cannot forge a token.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { hmac } from "@oauth-broker/oauth-core";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";

const PREFIX = { access: "mcp_at_", refresh: "mcp_rt_" } as const;
export type TokenType = keyof typeof PREFIX;

const ID_BYTES = 16;
const GENERATION_BYTES = 4;
const SECRET_BYTES = 32;
/** With the 52 bytes before it 66, a multiple of three: every token has one base64url spelling. */
const TAG_BYTES = 14;
const HEAD_BYTES = ID_BYTES + GENERATION_BYTES + SECRET_BYTES;
const BODY = /^[A-Za-z0-9_-]{88}$/;

export interface IssuedToken {
  readonly sessionId: string;
  readonly generation: number;
  /** BASE64URL(SHA-256(token)), as stored in a record. */
  readonly hash: string;
}

/** The inputs of a tag. */
export interface TokenTagging {
  /** 32 bytes, `derive("token-tag")`. */
  readonly key: Buffer;
  /**
   * The audience of the tokens: the URL of `/mcp`. Another server on the same table has another.
   */
  readonly audience: string;
}

/** 128 random bits, base64url. Public: it proves nothing. */
export function createSessionId(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}

/** @param of.sessionId of `createSessionId` */
export function issueToken(
  type: TokenType,
  of: Pick<IssuedToken, "sessionId" | "generation">,
  tagging: TokenTagging,
): { readonly token: string; readonly hash: string } {
  const head = Buffer.concat([
    Buffer.from(of.sessionId, "base64url"),
    Buffer.alloc(GENERATION_BYTES),
    randomBytes(SECRET_BYTES),
  ]);
  head.writeUInt32BE(of.generation, ID_BYTES);
  const body = Buffer.concat([head, tokenTag(PREFIX[type], head, tagging)]);
  const token = `${PREFIX[type]}${body.toString("base64url")}`;
  return { token, hash: hashOf(token) };
}

/**
 * Whether a text has the format of such a token. It needs no key, so that a foreign token is
 * refused even when the key is unavailable.
 */
export function looksIssued(type: TokenType, token: string): boolean {
  return token.startsWith(PREFIX[type]) && BODY.test(token.slice(PREFIX[type].length));
}

/**
 * @param token as presented, of any format and length
 * @returns undefined for a token this server never issued as this type
 */
export function parseIssuedToken(type: TokenType, token: string, tagging: TokenTagging): IssuedToken | undefined {
  if (!looksIssued(type, token)) return undefined;
  const bytes = Buffer.from(token.slice(PREFIX[type].length), "base64url");
  const head = bytes.subarray(0, HEAD_BYTES);
  //= bar#RS-2
  if (!isTokenTag(bytes.subarray(-TAG_BYTES), PREFIX[type], head, tagging)) return undefined;
  return {
    sessionId: head.toString("base64url", 0, ID_BYTES),
    generation: head.readUInt32BE(ID_BYTES),
    hash: hashOf(token),
  };
}

/**
 * @param head everything before the tag
 * @returns TAG_BYTES bytes
 */
function tokenTag(prefix: string, head: Buffer, { key, audience }: TokenTagging): Buffer {
  return hmac("sha256", key, Buffer.concat([Buffer.from(`${prefix}\0${audience}\0`), head])).subarray(0, TAG_BYTES);
}

/** @param tag TAG_BYTES bytes, as presented */
export function isTokenTag(tag: Buffer, prefix: string, head: Buffer, tagging: TokenTagging): boolean {
  return timingSafeEqual(tag, tokenTag(prefix, head, tagging));
}
