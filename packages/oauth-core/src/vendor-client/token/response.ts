/**
 * Normalises a vendor's token response to the standard's members before oauth4webapi sees it: that
 * library is strict, vendors are not, and relaxing it for one would relax it for all. validate.ts
 * checks the result.
 */
import { defined } from "../../mechanics/defined.ts";
import type { Clock, JsonObject, JsonValue } from "../../ports.ts";
import { isScopeToken } from "../../protocol/scope.ts";
import { withPlainNumbers } from "../../mechanics/exact-json.ts";
import { isJsonObject } from "../../protocol/strict-json.ts";
import type { AbsoluteExpiry } from "../../registry/dialect.ts";
import type { ResolvedVendor, VendorTokens } from "../../registry/vendor.ts";
import { type Body, isOutage, parseBody, readBody, requireNoRedirect } from "../answer.ts";
import { memberAt } from "../member-path.ts";
import { hasIdTokens } from "../issuer.ts";
import type { VendorClientDeps } from "../binding.ts";
import { invalidVendorResponse, type VendorCall } from "../errors.ts";
import { errorInSuccess, readLeniently, refusalOf } from "./error-response.ts";

/** The response after normalising; nothing in it is verified yet. */
export interface TokenAnswer extends Omit<VendorTokens, "idToken"> {
  readonly idToken?: string;
}

/** Tokens that an answer shows although it is refused. */
export type SeenTokens = Partial<Pick<TokenAnswer, "accessToken" | "refreshToken">>;

/** What an answer is read with. */
export interface Reading extends Pick<VendorClientDeps, "onLesserAnswer"> {
  readonly now: Clock;
  /**
   * A success that cannot be read as one, or an error beside tokens, is about to be refused: the
   * tokens it shows.
   */
  readonly onRefused?: (seen: SeenTokens) => void;
}

/**
 * @throws OAuthError by the vendor's own error code, also inside a 200; temporarily_unavailable for
 *   429 and 5xx; vendor_response_invalid for a redirect, HTML, anything ambiguous, and a success
 *   without usable tokens
 */
export async function readTokenAnswer(
  response: Response,
  vendor: ResolvedVendor,
  call: VendorCall,
  reading: Reading,
): Promise<TokenAnswer> {
  requireNoRedirect(response, call);
  const { now, onRefused } = reading;
  const isSuccess = response.status < 400;
  const body = await readBody(response, call).catch((error: unknown) => {
    if (isOutage(response)) return EMPTY;
    if (isSuccess) onRefused?.({});
    throw error;
  });
  const parsed = parse(body, call);
  const members = withPlainNumbers("exact" in parsed ? parsed.exact : readLeniently(body, call));
  const answered = { response, body, members, vendor, call };
  if (!isSuccess) throw refusalOf(answered, now);
  const showsToken = isToken(tokenSetOf(members, vendor).access_token);
  const error = errorInSuccess(answered, { now, showsToken });
  if (error !== undefined) {
    // Without tokens nothing was issued, and the one that was sent may still be valid.
    const seen = seenTokens(body, vendor);
    //= bar#RF-9
    if (Object.keys(seen).length > 0) onRefused?.(seen);
    throw error;
  }
  try {
    if ("problem" in parsed) throw parsed.problem;
    if (members.ok === false) throw invalidVendorResponse(`${call.what}: refused without an error code`);
    return normalise(vendor.readTokenResponse?.(parsed.exact) ?? parsed.exact, vendor, reading);
  } catch (refused) {
    //= bar#VR-7
    onRefused?.(seenTokens(body, vendor));
    throw refused;
  }
}

const EMPTY: Body = { text: "", type: "" };

function parse(body: Body, call: VendorCall): { readonly exact: JsonObject } | { readonly problem: unknown } {
  try {
    return { exact: parseBody(body, call, { acceptForm: true }) };
  } catch (problem) {
    return { problem };
  }
}

/** Best effort, to revoke them: of two members of one name the last, as most clients read it. */
function seenTokens({ text }: Body, vendor: ResolvedVendor): SeenTokens {
  try {
    const value: JsonValue = text.startsWith("{") ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
    const members: JsonObject = isJsonObject(value) ? tokenSetOf(value, vendor) : {};
    const seen = (member: JsonValue | undefined): string | undefined => (isToken(member) ? member : undefined);
    return defined({ accessToken: seen(members.access_token), refreshToken: seen(members.refresh_token) });
  } catch {
    return {};
  }
}

const STANDARD: ReadonlySet<string> = new Set([
  "access_token",
  "token_type",
  "expires_in",
  "refresh_token",
  "scope",
  "id_token",
]);

/** @param exact whose numbers keep their digits: they are passed on, and read from `answer` */
function normalise(exact: JsonObject, vendor: ResolvedVendor, { now, onLesserAnswer }: Reading): TokenAnswer {
  const written = tokenSetOf(exact, vendor);
  const vendorData = besideTokens(exact, vendor);
  const members = withPlainNumbers(written);
  const expiresInSeconds =
    usableLifetime(members.expires_in) ??
    lifetimeUntil(members, vendor.tokenExpiry, now) ??
    vendor.defaultLifetimeSeconds;
  const refreshToken = optionalToken(members.refresh_token, "refresh_token");
  const refreshExpiresInSeconds =
    refreshToken === undefined ? undefined : (refreshLifetime(members) ?? vendor.defaultRefreshLifetimeSeconds);
  const scope = readableScope(members.scope, vendor.scopeSeparator);
  if (scope === "odd") onLesserAnswer?.("vendor_scope_left_out", vendor);
  // Without an issuer the signature cannot be checked, and nothing unverified is passed on.
  const idToken = hasIdTokens(vendor) ? optionalToken(members.id_token, "id_token") : undefined;
  return {
    accessToken: token(members.access_token, "access_token"),
    tokenType: tokenType(members.token_type),
    vendorData: scope === "odd" ? { ...vendorData, scope: written.scope ?? null } : vendorData,
    ...defined({
      expiresInSeconds,
      refreshToken,
      refreshExpiresInSeconds,
      scope: scope === "odd" ? undefined : scope,
      idToken,
    }),
  };
}

type TokenForm = Pick<ResolvedVendor, "tokenResponseMember" | "tokenResponseNames">;

/** @returns the token set that a vendor wraps in its own member; undefined if it is not wrapped */
function wrappedIn(answer: JsonObject, { tokenResponseMember, tokenResponseNames }: TokenForm): JsonObject | undefined {
  const wrapped = tokenResponseMember === undefined ? undefined : memberAt(answer, tokenResponseMember);
  const isSet = isJsonObject(wrapped) && (named(wrapped, tokenResponseNames).access_token ?? null) !== null;
  return isSet ? wrapped : undefined;
}

function tokenSetOf(answer: JsonObject, vendor: TokenForm): JsonObject {
  return named(wrappedIn(answer, vendor) ?? answer, vendor.tokenResponseNames);
}

/** The other members, in place. */
function besideTokens(answer: JsonObject, vendor: TokenForm): JsonObject {
  const { tokenResponseMember = "", tokenResponseNames: names } = vendor;
  const wrapped = wrappedIn(answer, vendor);
  const others = withoutStandard(answer, names);
  // Instead of the whole member: nothing around the set is passed on, so no second token can be.
  const [outermost = ""] = tokenResponseMember.split(".");
  return wrapped === undefined ? others : { ...others, [outermost]: withoutStandard(wrapped, names) };
}

/**
 * @param names ours → the vendor's; a member that the vendor sends under our name is used as well
 */
function named(members: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const theirs = Object.entries(names).flatMap(([ours, name]) => {
    const value = members[name];
    const isOurs = (members[ours] ?? null) !== null;
    return value === undefined || isOurs ? [] : [[ours, value] as const];
  });
  return theirs.length === 0 ? members : { ...members, ...Object.fromEntries(theirs) };
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

function isToken(value: JsonValue | undefined): value is string {
  //= bar#VR-7
  return typeof value === "string" && TOKEN.test(value);
}

function token(value: JsonValue | undefined, name: string): string {
  if (isToken(value)) return value;
  throw invalidVendorResponse(`${name} is missing or not a string of printable ASCII`);
}

function optionalToken(value: JsonValue | undefined, name: string): string | undefined {
  return value === undefined || value === null || value === "" ? undefined : token(value, name);
}

/** Types with their own rules: such a token must not be treated as a bearer token. */
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
  const seconds = typeof value === "string" && /^\d{1,12}(\.\d{1,12})?$/.test(value) ? Number(value) : value;
  if (typeof seconds !== "number" || !(seconds >= 1 && seconds <= MAX_LIFETIME_SECONDS)) return undefined;
  return Math.floor(seconds);
}

/** No standard names the member; these are the names that vendors use. It stays in `vendorData` too. */
const REFRESH_LIFETIMES = ["refresh_token_expires_in", "refresh_expires_in", "x_refresh_token_expires_in"] as const;

function refreshLifetime(members: JsonObject): number | undefined {
  return REFRESH_LIFETIMES.map((name) => usableLifetime(members[name])).find((seconds) => seconds !== undefined);
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

/** @returns undefined if the vendor reports none, or one that is unreadable */
export function knownScope(value: JsonValue | undefined, separator: string): readonly string[] | undefined {
  const scope = readableScope(value, separator);
  return scope === "odd" ? undefined : scope;
}

/**
 * Scope is what the vendor reports, not what the tokens can do: one that is unreadable refuses no
 * tokens. An array of names (several in one text too) or whole numbers, a comma-separated list, or a list
 * with the vendor's own separator. A comma separates before a space, and in a text without spaces.
 *
 * @returns `odd` for anything else
 */
function readableScope(value: JsonValue | undefined, separator: string): readonly string[] | "odd" | undefined {
  if (value === undefined || value === null) return undefined;
  const scope = new Set<string>();
  for (const one of listed(value, separator)) {
    // Some vendors number their permissions.
    const part = Number.isSafeInteger(one) ? String(one) : one;
    if (part === "") continue;
    if (typeof part !== "string" || part.length > MAX_SCOPE_LENGTH || !isScopeToken(part)) return "odd";
    scope.add(part);
    if (scope.size > MAX_SCOPES) return "odd";
  }
  return [...scope];
}

function listed(value: JsonValue, separator: string): readonly unknown[] {
  if (typeof value === "string") return splitScope(value, separator);
  if (!Array.isArray(value)) return [undefined];
  return value.flatMap((one: unknown) => (typeof one === "string" ? one.split(SPACE) : [one]));
}

const SPACE = /,?\s+/;

function splitScope(text: string, separator: string): string[] {
  const bySpace = text.split(SPACE);
  const also = separator.trim() === "" ? "," : separator.trim();
  return bySpace.length > 1 && separator.trim() === "" ? bySpace : bySpace.flatMap((part) => part.split(also));
}
