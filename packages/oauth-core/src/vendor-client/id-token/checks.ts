/**
 * The checks of an ID token, one by one: the signature, by jose with the vendor's published keys,
 * and what we require beyond the standard. token/validate-response.ts makes them all, although the
 * token came over TLS; oauth4webapi checks `iss`, `aud`, `azp`, `nonce`, `exp` and `nbf` there.
 */
import { createHash } from "node:crypto";
import { compactVerify, errors, type JWSHeaderParameters } from "jose";
import type { Clock, JsonObject, JsonValue } from "../../ports.ts";
import { OAuthError } from "../../protocol/errors.ts";
import { isSameText } from "../../protocol/secret.ts";
import { parseJsonObject, withoutNulls } from "../../protocol/strict-json.ts";
import { FIELDS } from "../../registry/fields.ts";
import type { ResolvedVendor, VendorTokens } from "../../registry/vendor.ts";
import { isPinnedTenant, isTenant, spelledIssuer, withoutScheme } from "../issuer.ts";
import type { SigningKeys } from "./jwks.ts";
import { invalidVendorResponse } from "../errors.ts";

/** The decoded parts of an ID token. */
export interface IdTokenParts {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** The same token without its nulls, for oauth4webapi, which reads it again and checks no signature. */
  readonly plain: string;
}

const MAX_LENGTH = 65_536;
/**
 * Three parts: five would be encrypted. Unpadded base64url: anything else is another spelling of
 * the same token.
 */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Reads an ID token, and verifies nothing but its form. A member that is null counts as absent:
 * servers write their empty fields so.
 *
 * @throws OAuthError vendor_response_invalid
 */
//= bar#ID-5
export function parseIdToken(idToken: string): IdTokenParts {
  if (idToken.length > MAX_LENGTH || !COMPACT_JWS.test(idToken)) throw refused("not a compact JWS");
  const [first, second, signature] = idToken.split(".");
  const read = { header: parsePart(first), claims: parsePart(second) };
  const header = withoutNulls(read.header);
  const claims = withoutNulls(read.claims);
  const isPlain = header === read.header && claims === read.claims;
  return { header, claims, plain: isPlain ? idToken : `${encodePart(header)}.${encodePart(claims)}.${signature}` };
}

function encodePart(part: JsonObject): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function parsePart(part = ""): JsonObject {
  try {
    return parseJsonObject(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(part, "base64url")));
  } catch {
    // The parse error itself is not reported.
    throw refused("not JSON objects, each member once");
  }
}

const ASYMMETRIC: ReadonlySet<string> = new Set(FIELDS.idTokenAlgs.of.values);

/**
 * Keys in the token or referenced by it (`jwk`, `jku`, `x5u`, `x5c`) are ignored: only the vendor's
 * key set is used.
 *
 * @returns the algorithm, which the vendor's list has to permit: the token does not choose
 * @throws OAuthError vendor_response_invalid for HS*, none, and members that change how the token
 *   is read
 */
//= bar#ID-4
export function requireAlg({ alg, zip, crit, b64 }: JsonObject, algs: readonly string[]): string {
  if (typeof alg !== "string" || !algs.includes(alg) || !ASYMMETRIC.has(alg)) throw refused("alg is not permitted");
  //= bar#ID-5
  if ([zip, crit, b64].some((value) => value !== undefined))
    throw refused("the header has members that are not supported");
  return alg;
}

/**
 * @param jwksUri the vendor's published keys
 * @throws OAuthError vendor_response_invalid; temporarily_unavailable when the keys cannot be
 *   fetched, or not before the signal fires
 */
//= bar#ID-2
//= bar#ID-3
export async function verifySignature(
  idToken: string,
  { alg, kid }: { readonly alg: string; readonly kid: JsonValue | undefined },
  jwksUri: string,
  { keys }: { readonly keys: SigningKeys },
  signal?: AbortSignal,
): Promise<void> {
  if (kid !== undefined && typeof kid !== "string") throw refused("kid is not a string");
  const header: JWSHeaderParameters = kid === undefined ? { alg } : { alg, kid };
  const key = await keys.find(jwksUri, header, signal);
  try {
    //= bar#ID-2
    //= bar#ID-3
    await compactVerify(idToken, key, { algorithms: [alg] }).catch(async (error: unknown) => {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      const current = await keys.find(jwksUri, header, signal, { isRefuted: true });
      return compactVerify(idToken, current, { algorithms: [alg] });
    });
  } catch (error) {
    if (error instanceof errors.JOSEError) throw refused(`signature: ${error.code}`);
    throw error;
  }
}

/**
 * @returns the issuer this token must name: the vendor's, in the spelling or for the tenant that
 *   the token states
 */
export function expectedIssuer(
  { issuer = "", issuerSpelling, issuerTemplate }: Pick<ResolvedVendor, "issuer" | "issuerSpelling" | "issuerTemplate">,
  claims: JsonObject,
): string {
  if (issuerSpelling === "bare" && claims.iss === withoutScheme(issuer)) return withoutScheme(issuer);
  if (issuerTemplate === undefined) return issuer;
  const { placeholder, claim } = issuerTemplate;
  const value = claims[claim];
  if (typeof value !== "string" || !isTenant(value, issuerTemplate)) throw refused(`${claim} is not a tenant`);
  if (!isPinnedTenant(value, issuerTemplate)) throw refused(`${claim} is another tenant`);
  return issuer.replace(`{${placeholder}}`, value);
}

/** Whom an ID token names. */
export type IdTokenSubject = Omit<NonNullable<VendorTokens["idToken"]>, "raw">;

/**
 * The user of an ID token that passed every check when it was issued, in the form of
 * `VendorTokens.idToken`.
 *
 * @param idToken as it was stored
 */
export function idTokenSubject(idToken: string, vendor: Parameters<typeof spelledIssuer>[0]): IdTokenSubject {
  const { claims } = parseIdToken(idToken);
  if (typeof claims.iss !== "string") throw refused("iss is not a text");
  return { issuer: spelledIssuer(vendor, claims.iss), subject: requireSubject(claims) };
}

/** @throws OAuthError vendor_response_invalid unless `iss` is the expected one, byte for byte */
//= oidc-core#3.1.3.7
export function requireIssuerClaim({ iss }: JsonObject, issuer: string): void {
  if (iss !== issuer) throw refused("iss is another issuer");
}

/**
 * We are the only audience, or one of several if the entry says so, and the authorized party.
 *
 * @throws OAuthError vendor_response_invalid
 */
//= oidc-core#3.1.3.7
//= bar#ID-7
export function requireAudience(
  { aud, azp }: JsonObject,
  clientId: string,
  { additionalAudiences }: Pick<ResolvedVendor, "additionalAudiences">,
): void {
  const audiences: readonly JsonValue[] = Array.isArray(aud) ? aud : [aud ?? null];
  //= bar#ID-7
  if (!audiences.includes(clientId)) throw refused("aud is not this client");
  //= bar#ID-7
  if (audiences.length > 1 && additionalAudiences !== true) throw refused("aud is not this client alone");
  if (audiences.length > 1 && azp === undefined) throw refused("several audiences, and azp names none");
  //= bar#ID-7
  if (azp !== undefined && azp !== clientId) throw refused("azp is not this client");
}

const MAX_AHEAD_SECONDS = 60;
const MAX_AGE_SECONDS = 86_400;
/** Year 5138: a larger number is not a time. */
const MAX_EPOCH_SECONDS = 1e11;

/** What its times make of an ID token. `old` and `expired`: it was good once. */
export type IdTokenAge = "current" | "old" | "expired";

/** @throws OAuthError vendor_response_invalid for times that are none, or are in the future */
export function ageOf({ exp, iat, nbf }: JsonObject, now: Clock): IdTokenAge {
  const expiresAt = requireTime(exp, "exp");
  const issuedAt = requireTime(iat, "iat");
  const at = now();
  if (issuedAt > at + MAX_AHEAD_SECONDS) throw refused("iat is in the future");
  if (nbf !== undefined && requireTime(nbf, "nbf") > at + MAX_AHEAD_SECONDS) throw refused("nbf is in the future");
  if (expiresAt <= at - MAX_AHEAD_SECONDS) return "expired";
  //= bar#ID-6
  return issuedAt < at - MAX_AGE_SECONDS ? "old" : "current";
}

function requireTime(value: JsonValue | undefined, name: string): number {
  if (typeof value === "number" && value > 0 && value < MAX_EPOCH_SECONDS) return value;
  throw refused(`${name} is not a time`);
}

/** @returns `sub`: 1 to 255 printable ASCII characters */
export function requireSubject({ sub }: JsonObject): string {
  //= bar#ID-8
  if (typeof sub === "string" && /^[\x20-\x7e]{1,255}$/.test(sub)) return sub;
  throw refused("sub is not a subject");
}

/** Optional in this flow; when present it must be right. */
//= bar#ID-9
export function isOfAccessToken({ at_hash: atHash }: JsonObject, alg: string, accessToken: string): boolean {
  if (atHash === undefined) return true;
  const bits = alg.startsWith("Ed") ? "512" : alg.slice(-3);
  const digest = createHash(`sha${bits}`).update(accessToken).digest();
  const expected = digest.subarray(0, digest.length / 2).toString("base64url");
  return typeof atHash === "string" && isSameText(atHash, expected);
}

/** A refreshed ID token names the same user at the same issuer as the first. */
//= oidc-core#12.2
export function requireSameSubject(idToken: IdTokenSubject | undefined, first: IdTokenSubject | undefined): void {
  if (idToken === undefined || first === undefined) return;
  //= bar#RF-6
  if (idToken.issuer === first.issuer && idToken.subject === first.subject) return;
  throw new OAuthError("vendor_response_invalid", "The refreshed ID token names another user", {
    reason: "subject_mismatch",
    detail: "refresh: iss or sub differs from the first",
  });
}

export function refused(detail: string): Error {
  return invalidVendorResponse(`ID token: ${detail}`, { reason: "id_token_invalid" });
}
