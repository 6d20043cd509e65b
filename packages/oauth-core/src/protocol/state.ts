/**
 * The state JWT: the vendor's redirect must return it so that we know which flow it belongs to.
 * Signed when the browser leaves for the vendor, verified first at the callback. It names the flow
 * and nothing else. Our own HS256 in node:crypto, because we are the only reader and writer: no
 * algorithm, key or spelling is negotiable.
 */
import type { Clock, EpochSeconds } from "../ports.ts";
import { OAuthError } from "./errors.ts";
import { hmac } from "./mac.ts";
import { isSameText } from "./secret.ts";

const MAX_LENGTH = 1024;
const MAX_FUTURE_SECONDS = 60;
const MIN_KEY_BYTES = 32;
const KID = /^[\w.:~-]{1,128}$/;

/** The MAC keys of one purpose. Purposes never share keys. */
export interface MacKeys {
  /** The key to sign with now. */
  active(): { readonly kid: string; readonly key: Buffer };
  /**
   * A key that may still verify; may reload the keyset once, so that a fresh key of another process
   * is found.
   */
  find(kid: string): Promise<Buffer | undefined>;
}

/** What the state JWT says: which flow, in which context, for how long. */
export interface StateClaims {
  /** The flow's id. */
  readonly jti: string;
  /** Hash of the context the flow was started with. */
  readonly contextHash: string;
  readonly issuedAt: EpochSeconds;
  readonly expiresAt: EpochSeconds;
}

export interface StateCodecOptions {
  readonly keys: MacKeys;
  /** The audience of the state: the base URL, byte for byte. */
  readonly audience: string;
  readonly now: Clock;
  /** The purpose, in the header. Defaults to `state+jwt`. */
  readonly typ?: string;
}

/** Signs and verifies the `state` parameter towards vendors (RFC 6749 §10.12). */
export interface StateCodec {
  /** @returns three base64url parts, at most 1024 characters */
  sign(claims: StateClaims): string;
  /**
   * @throws OAuthError invalid_request, reason `invalid_state` or `state_expired`; what `keys.find`
   *   throws passes through
   */
  verify(value: string): Promise<StateClaims>;
  /**
   * The claims of a state that we signed, also after it has expired: for the page that refuses it.
   *
   * @throws OAuthError as `verify`, but never with the reason `state_expired`
   */
  identify(value: string): Promise<StateClaims>;
}

/**
 * @returns a codec that signs with the active key, HS256, and verifies with every key that `keys`
 *   finds
 */
export function createStateCodec({ keys, audience, now, typ = "state+jwt" }: StateCodecOptions): StateCodec {
  let activeHeader: { kid: string; segment: string } | undefined;
  const headerOf = (kid: string): string => {
    if (activeHeader?.kid !== kid) activeHeader = { kid, segment: encodeHeader(typ, kid) };
    return activeHeader.segment;
  };

  const findKey = async (header: string): Promise<Buffer> => {
    const active = keys.active();
    if (header === headerOf(active.kid)) return active.key;
    const kid = readKid(header);
    //= rfc8725#3.1
    //= rfc8725#3.11
    // The header is not parsed but compared with the bytes we would write: alg, typ, crit, jwk and
    // the like have no effect.
    if (kid === undefined || header !== encodeHeader(typ, kid)) throw invalid("header is not ours");
    const key = await keys.find(kid);
    if (key === undefined) throw invalid("unknown kid");
    return key;
  };

  const identify = async (value: string): Promise<StateClaims> => {
    const [header, payload, signature] = splitCompact(value);
    const key = await findKey(header);
    //= bar#CB-1
    //= bar#CB-3
    // The encoded signatures are compared, not the decoded ones: only one spelling of each is
    // accepted.
    if (!isSameText(signatureOf(key, `${header}.${payload}`), signature)) throw invalid("signature differs");
    return decodePayload(payload, audience);
  };

  return {
    sign: (claims) => {
      const { kid, key } = keys.active();
      const input = `${headerOf(kid)}.${encodePayload(claims, audience)}`;
      const value = `${input}.${signatureOf(key, input)}`;
      if (value.length > MAX_LENGTH) throw new RangeError("state is longer than it may be");
      return value;
    },
    verify: async (value) => {
      const claims = await identify(value);
      requireTimes(claims, now());
      return claims;
    },
    identify,
  };
}

function invalid(detail: string): OAuthError {
  return new OAuthError("invalid_request", "state is not valid", { reason: "invalid_state", detail });
}

function encodeSegment(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function encodeHeader(typ: string, kid: string): string {
  if (!KID.test(kid)) throw new RangeError("kid has characters a state header must not have");
  return encodeSegment({ alg: "HS256", typ, kid });
}

function encodePayload({ jti, contextHash, issuedAt, expiresAt }: StateClaims, audience: string): string {
  //= bar#CB-6
  return encodeSegment({ aud: audience, jti, ctx: contextHash, iat: issuedAt, exp: expiresAt });
}

function splitCompact(value: string): [string, string, string] {
  if (value.length > MAX_LENGTH) throw invalid("too long");
  const parts = value.split(".");
  //= rfc7519#7.2
  if (parts.length !== 3 || parts.includes("")) throw invalid("not three parts");
  const [header = "", payload = "", signature = ""] = parts;
  return [header, payload, signature];
}

/** The kid of a header, used only to look the key up; the header itself is still compared whole. */
function readKid(header: string): string | undefined {
  const { kid } = parseSegment(header);
  return typeof kid === "string" && KID.test(kid) ? kid : undefined;
}

/** The members of a JSON object; an empty object when the segment is anything else. */
function parseSegment(segment: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, "base64url").toString());
    return typeof value === "object" ? { ...value } : {};
  } catch {
    return {};
  }
}

function signatureOf(key: Buffer, input: string): string {
  //= rfc7518#3.2
  if (key.length < MIN_KEY_BYTES) throw new RangeError("a state key has at least 32 bytes");
  return hmac("sha256", key, input).toString("base64url");
}

function decodePayload(payload: string, audience: string): StateClaims {
  const { aud, jti, ctx, iat, exp } = parseSegment(payload);
  //= rfc7519#4.1.3
  //= bar#CB-5
  if (aud !== audience) throw invalid("another audience");
  if (typeof jti !== "string" || jti === "" || typeof ctx !== "string") throw invalid("jti or ctx missing");
  //= rfc7519#4.1.4
  if (!isWhole(iat) || !isWhole(exp)) throw invalid("iat or exp is not a whole number");
  const claims = { jti, contextHash: ctx, issuedAt: iat, expiresAt: exp };
  // Encoded again, the claims must give the same bytes: no further member, no other order, spelling
  // or padding.
  //= bar#CB-1
  //= bar#CB-3
  if (encodePayload(claims, audience) !== payload) throw invalid("payload is not canonical");
  return claims;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function requireTimes({ issuedAt, expiresAt }: StateClaims, at: EpochSeconds): void {
  //= rfc7519#4.1.4
  if (at >= expiresAt) {
    throw new OAuthError("invalid_request", "state has expired", { reason: "state_expired" });
  }
  //= rfc7519#4.1.6
  if (issuedAt > at + MAX_FUTURE_SECONDS) throw invalid("iat is in the future");
}
