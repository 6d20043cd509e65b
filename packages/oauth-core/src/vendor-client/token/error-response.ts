/**
 * The error response of a token endpoint (RFC 6749 §5.2), in any spelling: an OAuth error of any status, also
 * in a 200, an error as an object or in a list, a page of a network in front of the vendor. Part of
 * response.ts; what each code means is in errors.ts and in the vendor's entry.
 */
import type { Clock, JsonObject, JsonValue } from "../../ports.ts";
import { isJsonList } from "../../mechanics/exact-json.ts";
import type { OAuthError, OAuthErrorCode } from "../../protocol/errors.ts";
import { isJsonObject } from "../../protocol/strict-json.ts";
import type { ResolvedVendor } from "../../registry/vendor.ts";
import { type Body, isHtml, isOutage, parseBody } from "../answer.ts";
import {
  invalidVendorResponse,
  meaningAtAnyStatus,
  meaningOf,
  type Refusal,
  saidBy,
  type VendorCall,
  vendorRefusal,
  vendorRefusedClient,
  vendorUnavailable,
} from "../errors.ts";
import { memberAt } from "../member-path.ts";

/** An answer that may be a refusal. */
export interface Answered {
  readonly response: Response;
  readonly body: Body;
  /** The members of the body, as far as they can be read. */
  readonly members: JsonObject;
  readonly vendor: ResolvedVendor;
  readonly call: VendorCall;
}

/** @returns the error of an answer whose status is not a success */
export function refusalOf({ response, body, members, vendor, call }: Answered, now: Clock): OAuthError {
  const { status, headers } = response;
  const said = saidBy(response, members, now);
  const { own, further } = candidates(members, vendor);
  const code =
    own ??
    firstKnown(further, call, said) ??
    further[0] ??
    firstKnown(namedCodes(members), { ...call, errors: {} }, said) ??
    (status === 401 ? challengedCode(headers, call) : undefined);
  const meaning = code === undefined ? undefined : meaningOf(code, call, said);
  const isToWait = status === 429 || headers.has("retry-after");
  // A dead grant is accepted as such, regardless of the status, but not beside a word that the same
  // request may succeed later.
  //= bar#RF-9
  const isSure = code !== undefined && !isToWait && meaningAtAnyStatus(code, call, said) !== undefined;
  const isLater =
    isOutage(response) ||
    isToRepeat(headers, meaning?.code, call) ||
    (isPassing(status, body) && meaning === undefined);
  if (isLater && !isSure) return vendorUnavailable(response, call, now);
  if (code !== undefined) return vendorRefusal(code, call, said);
  return status === 401
    ? vendorRefusedClient(call)
    : invalidVendorResponse(`${call.what}: status ${status} without an error code`);
}

/** A word that the same request may succeed later, beside none that is clearer. */
//= bar#RF-9
function isToRepeat(headers: Headers, meaning: OAuthErrorCode | undefined, { isRefresh }: VendorCall): boolean {
  const isUnclear = meaning === undefined || (isRefresh === true && meaning === "invalid_grant");
  return headers.has("retry-after") && isUnclear;
}

/**
 * A conflict with another request, a lock, and the page of a network in front of the vendor that
 * takes us for a robot: the vendor has decided nothing.
 */
function isPassing(status: number, body: Body): boolean {
  return status === 409 || status === 423 || (status === 403 && isHtml(body));
}

/** @returns the error in a success of HTTP; undefined if it is one of OAuth too */
export function errorInSuccess(
  { response, members, vendor, call }: Answered,
  { now, showsToken }: { readonly now: Clock; readonly showsToken: boolean },
): OAuthError | undefined {
  const said = saidBy(response, members, now);
  const { own, further } = candidates(members, vendor);
  // A success may have a member of that name that says so: `error: { code: "ok" }`.
  const code = own ?? firstKnown(further, call, said) ?? (showsToken ? undefined : further[0]);
  if (code === undefined) return undefined;
  return isToRepeat(response.headers, meaningOf(code, call, said)?.code, call)
    ? vendorUnavailable(response, call, now)
    : vendorRefusal(code, call, said);
}

/**
 * The members of an answer that is not JSON, as far as they can be read: some vendors write a line
 * break into a description as it is, which JSON forbids. Nothing is taken from them but an error.
 */
export function readLeniently(body: Body, call: VendorCall): JsonObject {
  try {
    return parseBody({ ...body, text: body.text.replace(/\p{Cc}+/gu, " ") }, call, { acceptForm: true });
  } catch {
    return {};
  }
}

/** Error codes in the places in which vendors put them. */
interface Candidates {
  /**
   * As the vendor's entry finds it, else in `error`: an error with any text.
   * Beside a failed result `error` is a sentence.
   */
  readonly own: string | undefined;
  /** In the entry's `errorMember`, within an `error` that is an object, and within a list `errors`. */
  readonly further: readonly string[];
}

function candidates(members: JsonObject, { classifyError, tokenResult, errorMember }: ResolvedVendor): Candidates {
  const { error } = members;
  const own =
    classifyError?.(members) ??
    (tokenResult === undefined ? undefined : failedResult(members[tokenResult.member], tokenResult.success)) ??
    (typeof error === "string" && error !== "" ? error : undefined);
  const stated = errorMember === undefined ? undefined : codeIn(memberAt(members, errorMember));
  const nested = nestedCodes(members);
  return { own, further: stated === undefined ? nested : [stated, ...nested] };
}

const MAX_LISTED = 8;

/** @returns the error codes within an `error` that is an object, and within a list `errors` */
export function nestedCodes({ error, errors }: JsonObject): string[] {
  const listed = isJsonList(errors) ? errors.slice(0, MAX_LISTED) : [];
  return [error, ...listed].flatMap((one) => namedCodes(one));
}

function firstKnown(codes: readonly string[], call: VendorCall, said: Refusal): string | undefined {
  return codes.find((code) => meaningOf(code, call, said) !== undefined);
}

/** What vendors call the member that holds a code. */
const CODE_MEMBERS = [
  "code",
  "error",
  "errorType",
  "error_type",
  "errorCode",
  "error_code",
  "type",
  "status",
  "reason",
];

/** @returns the error codes within an `error` that is an object */
function namedCodes(value: JsonValue | undefined): string[] {
  if (!isJsonObject(value)) return [];
  return CODE_MEMBERS.map((name) => codeIn(value[name])).filter((code) => code !== undefined);
}

function codeIn(value: JsonValue | undefined): string | undefined {
  return typeof value === "number" || (typeof value === "string" && value !== "") ? String(value) : undefined;
}

/**
 * @returns the result as an error code; undefined for a success, and when the response has no
 *   result
 */
function failedResult(result: JsonValue | undefined, success: readonly JsonValue[]): string | undefined {
  if (result === undefined || result === null || success.some((value) => value === result)) return undefined;
  return typeof result === "string" || typeof result === "number" ? String(result) : "error";
}

/** The refresh token is in the place of an access token at some servers, and is refused like one. */
//= rfc6750#3.1
function challengedCode(headers: Headers, { isRefresh }: VendorCall): string | undefined {
  const isBearer = /(^|,\s*)bearer\b[^,]*\berror="?invalid_token\b/i;
  const challenge = headers.get("www-authenticate") ?? "";
  return isRefresh === true && isBearer.test(challenge) ? "invalid_token" : undefined;
}
