/**
 * Normalises a vendor's token response to the standard's members before oauth4webapi sees it: that
 * library is strict, vendors are not, and relaxing it for one would relax it for all. validate.ts
 * checks the result.
 */
import { defined } from "../../mechanics/defined.ts";
import type { Clock, JsonObject, JsonValue } from "../../ports.ts";
import { isScopeToken } from "../../protocol/scope.ts";
import { isJsonObject } from "../../protocol/strict-json.ts";
import type { AbsoluteExpiry } from "../../vendors/dialect.ts";
import type { ResolvedVendor } from "../../vendors/vendor.ts";
import { readObject, requireAnswer } from "../answer.ts";
import { memberAt } from "../userinfo/member-path.ts";
import { hasIdTokens } from "../issuer.ts";
import {
  invalidVendorResponse,
  parseRetryAfter,
  type VendorCall,
  vendorRefusal,
  vendorRefusedClient,
} from "../errors.ts";

/** The response after normalising; nothing in it is verified yet. */
export interface TokenAnswer {
  readonly accessToken: string;
  readonly tokenType: string;
  readonly expiresInSeconds?: number;
  readonly refreshToken?: string;
  readonly scope?: readonly string[];
  readonly idToken?: string;
  readonly vendorData: JsonObject;
}

type Dialect = Pick<
  ResolvedVendor,
  | "issuer"
  | "issuesIdTokens"
  | "scopeSeparator"
  | "tokenResponseMember"
  | "tokenResponseNames"
  | "tokenExpiry"
  | "defaultLifetimeSeconds"
  | "errorMember"
  | "tokenResult"
  | "readTokenResponse"
  | "classifyError"
>;

/**
 * @throws OAuthError by the vendor's own error code, also inside a 200; temporarily_unavailable for
 *   429 and 5xx; vendor_response_invalid for a redirect, HTML, anything ambiguous, and a success
 *   without usable tokens
 */
//= bar#VR-7
export async function readTokenAnswer(
  response: Response,
  vendor: Dialect,
  call: VendorCall,
  now: Clock,
): Promise<TokenAnswer> {
  requireAnswer(response, call, now);
  const isRefusal = response.status >= 400;
  const answer = await readObject(response, call, { acceptForm: true }).catch((error: unknown) => {
    throw response.status === 401 ? vendorRefusedClient(call) : error;
  });
  const vendorCode = errorCode(answer, vendor);
  if (vendorCode !== undefined)
    throw vendorRefusal(vendorCode, call, parseRetryAfter(response.headers.get("retry-after"), now));
  if (response.status === 401) throw vendorRefusedClient(call);
  if (isRefusal || answer.ok === false) throw invalidVendorResponse(`${call.what}: refused without an error code`);
  return normalise(vendor.readTokenResponse?.(answer) ?? answer, vendor, now);
}

function errorCode(answer: JsonObject, { classifyError, tokenResult, errorMember }: Dialect): string | undefined {
  const { error } = answer;
  return (
    classifyError?.(answer) ??
    (typeof error === "string" && error !== "" ? error : undefined) ??
    (errorMember === undefined ? undefined : codeAt(memberAt(answer, errorMember))) ??
    (tokenResult === undefined ? undefined : failedResult(answer[tokenResult.member], tokenResult.success))
  );
}

function codeAt(value: JsonValue | undefined): string | undefined {
  return typeof value === "number" || (typeof value === "string" && value !== "") ? String(value) : undefined;
}

/**
 * @returns the result as an error code; undefined for a success, and when the response has no
 *   result
 */
function failedResult(
  result: JsonValue | undefined,
  success: readonly (string | number | boolean)[],
): string | undefined {
  if (result === undefined || success.some((value) => value === result)) return undefined;
  return typeof result === "string" || typeof result === "number" ? String(result) : "error";
}

const STANDARD: ReadonlySet<string> = new Set([
  "access_token",
  "token_type",
  "expires_in",
  "refresh_token",
  "scope",
  "id_token",
]);

function normalise(answer: JsonObject, vendor: Dialect, now: Clock): TokenAnswer {
  const { members, vendorData } = unwrap(answer, vendor);
  const expiresInSeconds =
    usableLifetime(members.expires_in) ??
    lifetimeUntil(members, vendor.tokenExpiry, now) ??
    vendor.defaultLifetimeSeconds;
  const refreshToken = optionalToken(members.refresh_token, "refresh_token");
  const scope = scopeList(members.scope, vendor.scopeSeparator);
  // Without an issuer the signature cannot be checked, and nothing unverified is passed on.
  const idToken = hasIdTokens(vendor) ? optionalToken(members.id_token, "id_token") : undefined;
  return {
    accessToken: token(members.access_token, "access_token"),
    tokenType: tokenType(members.token_type),
    vendorData,
    ...defined({ expiresInSeconds, refreshToken, scope, idToken }),
  };
}

/**
 * When a vendor wraps the token set in a member of its own, the set is taken from there and the
 * other members stay in place.
 */
function unwrap(
  answer: JsonObject,
  { tokenResponseMember: wrapper, tokenResponseNames: names }: Dialect,
): { members: JsonObject; vendorData: JsonObject } {
  const wrapped = wrapper === undefined ? undefined : memberAt(answer, wrapper);
  if (wrapper === undefined || !isJsonObject(wrapped) || named(wrapped, names).access_token === undefined) {
    return { members: named(answer, names), vendorData: withoutStandard(answer, names) };
  }
  // In place of the whole member: nothing around the set is passed on, so no second token can be.
  const [outermost = wrapper] = wrapper.split(".");
  return {
    members: named(wrapped, names),
    vendorData: { ...withoutStandard(answer, names), [outermost]: withoutStandard(wrapped, names) },
  };
}

/**
 * @param names ours → the vendor's; a member that the vendor sends under our name is used as well
 */
function named(members: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const theirs = Object.entries(names).flatMap(([ours, name]) => {
    const value = members[name];
    return value === undefined ? [] : [[ours, value] as const];
  });
  return theirs.length === 0 ? members : { ...Object.fromEntries(theirs), ...members };
}

function withoutStandard(members: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const theirs = Object.values(names);
  const taken = theirs.length === 0 ? STANDARD : new Set([...STANDARD, ...theirs]);
  return Object.fromEntries(Object.entries(members).filter(([name]) => !taken.has(name)));
}

/**
 * The characters of rfc6749#a.12 and a.17: a value that cannot be sent in a header is not a token.
 */
const TOKEN = /^[\x20-\x7e]+$/;

function token(value: JsonValue | undefined, name: string): string {
  if (typeof value === "string" && TOKEN.test(value)) return value;
  throw invalidVendorResponse(`${name} is missing or not a string of printable ASCII`);
}

function optionalToken(value: JsonValue | undefined, name: string): string | undefined {
  return value === undefined || value === null || value === "" ? undefined : token(value, name);
}

/** Types with rules of their own: such a token must not be treated as a bearer token. */
const NOT_BEARER: ReadonlySet<string> = new Set(["dpop", "mac", "pop", "n_a"]);

/**
 * Absent, `bEARER`, `BearerToken`, `user`, a number: all mean Bearer, because that is how such
 * tokens are used.
 */
//= rfc6749#5.1
function tokenType(value: JsonValue | undefined): string {
  return typeof value === "string" && TOKEN.test(value) && NOT_BEARER.has(value.toLowerCase()) ? value : "Bearer";
}

const MAX_LIFETIME_SECONDS = 3_155_760_000; // a hundred years

/** @returns whole seconds; undefined, meaning unknown, for anything but a positive lifetime */
export function usableLifetime(value: JsonValue | undefined): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== "number" || !(seconds >= 1 && seconds <= MAX_LIFETIME_SECONDS)) return undefined;
  return Math.floor(seconds);
}

/** ISO 8601 text with a zone, and no other format that Date.parse would guess at. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

/** As `usableLifetime`, for a point in time. */
function lifetimeUntil(members: JsonObject, expiry: AbsoluteExpiry | undefined, now: Clock): number | undefined {
  if (expiry === undefined) return undefined;
  const at = pointInTime(members[expiry.member], expiry.unit);
  return usableLifetime(at === undefined ? undefined : at - now());
}

/** @returns seconds since 1970, possibly with a fraction; undefined when the value is not a time */
export function pointInTime(value: JsonValue | undefined, unit: AbsoluteExpiry["unit"]): number | undefined {
  const at =
    unit === "date"
      ? typeof value === "string" && DATE_TIME.test(value)
        ? Date.parse(value) / 1000
        : NaN
      : Number(typeof value === "number" || (typeof value === "string" && /^\d{1,15}$/.test(value)) ? value : NaN) /
        (unit === "milliseconds" ? 1000 : 1);
  return Number.isFinite(at) ? at : undefined;
}

const MAX_SCOPES = 1_000;
const MAX_SCOPE_LENGTH = 1_024;

/**
 * An array of names or whole numbers, a comma-separated list, or a list with the vendor's own separator. A comma separates
 * only when there are no spaces.
 */
export function scopeList(value: JsonValue | undefined, separator: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const parts = typeof value === "string" ? splitScope(value, separator) : Array.isArray(value) ? value : [undefined];
  const scope = new Set<string>();
  for (const one of parts) {
    // Some vendors number their permissions.
    const part = Number.isSafeInteger(one) ? String(one) : one;
    if (part === "") continue;
    if (typeof part !== "string" || part.length > MAX_SCOPE_LENGTH || !isScopeToken(part)) {
      throw invalidVendorResponse("scope is not a scope");
    }
    scope.add(part);
    if (scope.size > MAX_SCOPES) throw invalidVendorResponse(`more than ${MAX_SCOPES} scopes`);
  }
  return [...scope];
}

function splitScope(text: string, separator: string): string[] {
  const bySpace = text.split(/\s+/);
  const also = separator.trim() === "" ? "," : separator.trim();
  return bySpace.length > 1 && separator.trim() === "" ? bySpace : bySpace.flatMap((part) => part.split(also));
}
