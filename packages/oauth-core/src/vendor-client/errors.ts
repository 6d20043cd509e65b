/**
 * Translates every failure of a vendor, the network and oauth4webapi to one OAuthError, here and
 * nowhere else. No text of a vendor's response reaches a description; of its error codes only the
 * permitted characters are kept.
 */
import { defined } from "../mechanics/defined.ts";
import type { Clock, JsonObject } from "../ports.ts";
import { errorText, OAuthError, type OAuthErrorCode, type OAuthErrorOptions } from "../protocol/errors.ts";
import type { ErrorMeaning, TokenErrorRule, TokenErrors } from "../registry/dialect.ts";
import type { ResolvedVendor, VendorCredentials } from "../registry/vendor.ts";
import { type EgressErrorKind, isEgressError } from "../egress/errors.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { memberAt } from "./member-path.ts";

/** What was requested, as far as it decides what a failure means. */
export interface VendorCall {
  /** For the log: "code redemption", "refresh", … */
  readonly what: string;
  /**
   * The request spends a code or a rotating refresh token: when the response is lost, so is that
   * value.
   */
  readonly spends: boolean;
  /**
   * The vendor counts the value as spent once it received the request, even if it reports an
   * overload.
   */
  readonly spendsOnRefusal?: boolean;
  /** A refresh: then more words mean that the grant is dead. */
  readonly isRefresh?: true;
  readonly credentialsSource?: VendorCredentials["source"];
  /** The vendor's own codes; they take precedence over the table below. */
  readonly errors?: TokenErrors;
}

/** A request as the client of `credentials`; it spends nothing, unless `more` says so. */
export function vendorCall(
  what: string,
  { tokenErrors: errors }: Pick<ResolvedVendor, "tokenErrors">,
  { source: credentialsSource }: VendorCredentials,
  more: Pick<VendorCall, "spendsOnRefusal" | "isRefresh"> & { readonly spends?: boolean } = {},
): VendorCall {
  return { what, spends: false, credentialsSource, errors, ...more };
}

/** By the folded code. */
//= bar#VR-9
const BY_VENDOR_CODE: ReadonlyMap<string, OAuthErrorCode> = new Map<string, OAuthErrorCode>([
  ["invalid_grant", "invalid_grant"],
  ["invalid_client", "vendor_credentials_rejected"],
  ["unauthorized_client", "vendor_credentials_rejected"],
  ["invalid_scope", "invalid_scope"],
  ["temporarily_unavailable", "temporarily_unavailable"],
  ["slow_down", "temporarily_unavailable"],
  // Spellings seen in practice, most of them inside a 200, that can mean one thing only:
  // vendors known by their endpoints alone have no own file. A code with a special meaning
  // at one vendor is in that vendor's file (`tokenErrors`).
  ["bad_verification_code", "invalid_grant"],
  ["bad_auth_code", "invalid_grant"],
  ["bad_authorization_code", "invalid_grant"],
  ["expired_auth_code", "invalid_grant"],
  ["bad_refresh_token", "invalid_grant"],
  ["invalid_code", "invalid_grant"],
  ["code_already_used", "invalid_grant"],
  ["code_expired", "invalid_grant"],
  ["expired_token", "invalid_grant"],
  ["invalid_refresh_token", "invalid_grant"],
  ["token_expired", "invalid_grant"],
  ["token_revoked", "invalid_grant"],
  ["incorrect_client_credentials", "vendor_credentials_rejected"],
  ["bad_client_secret", "vendor_credentials_rejected"],
  ["invalid_client_id", "vendor_credentials_rejected"],
  ["invalid_client_secret", "vendor_credentials_rejected"],
  ["ratelimited", "temporarily_unavailable"],
  ["rate_limited", "temporarily_unavailable"],
  ["rate_limit_exceeded", "temporarily_unavailable"],
  ["too_many_requests", "temporarily_unavailable"],
]);

/**
 * Codes that at a refresh mean a dead grant, regardless of the status: the user has to authorize
 * again. Elsewhere they are about an access token, or about the browser.
 */
const DEAD_AT_REFRESH: ReadonlySet<string> = new Set([
  "invalid_grant",
  "invalid_token",
  //= oidc-core#3.1.2.6
  "interaction_required",
  "login_required",
  "consent_required",
  "account_selection_required",
]);

const DESCRIPTIONS: Readonly<Partial<Record<OAuthErrorCode, string>>> = {
  invalid_grant: "The vendor refused the grant: the user must authorize again",
  vendor_credentials_rejected: "The vendor refused the client credentials: update them",
  invalid_scope: "The vendor refused the scope",
  temporarily_unavailable: "The vendor is unavailable at the moment",
  vendor_response_invalid: "The vendor refused the request",
};

/** What an answer says in addition to its error code. */
export interface Refusal {
  readonly status?: number;
  readonly members?: JsonObject;
  /** Of `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/** What an answer says in addition to its error code. */
export function saidBy({ status, headers }: Response, members: JsonObject, now: Clock): Refusal {
  const retryAfterSeconds = parseRetryAfter(headers.get("retry-after"), now);
  return { status, members, ...defined({ retryAfterSeconds }) };
}

/** Our code for it; the rest is present if the vendor's entry says more than a code. */
export interface Meaning<Code extends OAuthErrorCode = OAuthErrorCode> {
  readonly code: Code;
  readonly reason?: string;
  readonly description?: string;
}

/**
 * The vendor refused, with an error code.
 *
 * @param vendorCode its error code as received; reduced before it is used
 */
export function vendorRefusal(vendorCode: string, call: VendorCall, said: Refusal = {}): OAuthError {
  const { code, reason, description } = meaningOf(vendorCode, call, said) ?? { code: "vendor_response_invalid" };
  const isOutage = code === "temporarily_unavailable";
  return new OAuthError(code, description ?? DESCRIPTIONS[code] ?? "", {
    vendorError: safeVendorCode(vendorCode),
    detail: `${call.what} refused`,
    ...(isOutage ? outage(said.retryAfterSeconds, call) : {}),
    ...defined({
      credentialsSource: code === "vendor_credentials_rejected" ? call.credentialsSource : undefined,
      reason,
    }),
  });
}

/** @returns what a vendor's error code means here; undefined when nothing says it */
export function meaningOf(vendorCode: string, call: VendorCall, said: Refusal): Meaning | undefined {
  const code = BY_VENDOR_CODE.get(foldCode(vendorCode));
  return meaningAtAnyStatus(vendorCode, call, said) ?? (code === undefined ? undefined : { code });
}

/** What is said, regardless of the status: by the entry, or that the grant is dead. */
export function meaningAtAnyStatus(vendorCode: string, call: VendorCall, said: Refusal): Meaning | undefined {
  const isDead = call.isRefresh === true && DEAD_AT_REFRESH.has(foldCode(vendorCode));
  return ownMeaning(call.errors, vendorCode, said) ?? (isDead ? { code: "invalid_grant" } : undefined);
}

/** @returns a vendor's spelling of a code as the standard spells it: `InvalidGrant`, `Invalid grant` */
export function foldCode(vendorCode: string): string {
  return vendorCode
    .slice(0, 64)
    .trim()
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[\s.-]+/g, "_");
}

/** @returns what the vendor's own file says of a code; undefined when it says nothing */
export function ownMeaning<Code extends OAuthErrorCode>(
  own: Readonly<Record<string, ErrorMeaning<Code> | readonly TokenErrorRule<Code>[]>> | undefined,
  vendorCode: string,
  said: Refusal = {},
): Meaning<Code> | undefined {
  const known = own !== undefined && Object.hasOwn(own, vendorCode) ? own[vendorCode] : undefined;
  const means = typeof known === "object" && "find" in known ? known.find((rule) => fits(rule, said))?.means : known;
  return typeof means === "string" ? { code: means } : means;
}

type Condition = Omit<TokenErrorRule, "means">;

function fits({ status, member = "error_description", value, prefix }: Condition, said: Refusal): boolean {
  if (status !== undefined && status !== said.status) return false;
  if (value === undefined && prefix === undefined) return true;
  const found = memberAt(said.members ?? {}, member);
  if (typeof found !== "string" && typeof found !== "number") return false;
  const text = String(found);
  return (value === undefined || text === value) && (prefix === undefined || text.startsWith(prefix));
}

/** The vendor refused our client authentication without an error code in the body. */
//= rfc6749#5.2
export function vendorRefusedClient(call: VendorCall): OAuthError {
  return new OAuthError("vendor_credentials_rejected", DESCRIPTIONS.vendor_credentials_rejected ?? "", {
    detail: `${call.what}: 401 without an error code`,
    ...defined({ credentialsSource: call.credentialsSource }),
  });
}

/**
 * The vendor responded, and the response breaks its contract.
 *
 * @param detail for the log; never content of the response
 */
export function invalidVendorResponse(detail: string, options: { cause?: unknown; reason?: string } = {}): OAuthError {
  return new OAuthError("vendor_response_invalid", "The vendor returned an invalid response", { detail, ...options });
}

/** The vendor reported that it cannot respond now. */
export function vendorUnavailable(response: Response, call: VendorCall, now: Clock): OAuthError {
  return new OAuthError("temporarily_unavailable", "The vendor is unavailable at the moment", {
    detail: `${call.what}: status ${response.status}`,
    ...outage(parseRetryAfter(response.headers.get("retry-after"), now), call),
  });
}

/** The vendor's own number is said to be its own: it is about this vendor, not about all of our answers. */
function outage(retryAfterSeconds: number | undefined, { spendsOnRefusal }: VendorCall): OAuthErrorOptions {
  return {
    ...(spendsOnRefusal === true ? { retry: "restart" } : {}),
    ...(retryAfterSeconds === undefined ? {} : { reason: "vendor", retryAfterSeconds }),
  };
}

export function safeVendorCode(vendorCode: string): string {
  return errorText(vendorCode.slice(0, 64));
}

const WRONG_ANSWERS: ReadonlyMap<EgressErrorKind, string> = new Map([
  ["too_large", "response too large"],
  ["unreadable", "unreadable response"],
]);

/** An answer came, and none of it can be read. */
export function isWrongAnswer(error: unknown): boolean {
  return isEgressError(error) && WRONG_ANSWERS.has(error.kind);
}

/**
 * Any error thrown while a vendor was asked. An error that is neither of the network nor of
 * oauth4webapi is our bug and is returned unchanged.
 *
 * @param reason of an answer that oauth4webapi refuses
 */
export function translateVendorError(error: unknown, call: VendorCall, reason?: string): unknown {
  if (error instanceof OAuthError) return error;
  if (isEgressError(error)) {
    // A response that is too long, or cannot be decoded, is a response, and an invalid one.
    const fault = WRONG_ANSWERS.get(error.kind);
    if (fault !== undefined) return invalidVendorResponse(`${call.what}: ${fault}`, { cause: error });
    //= bar#EG-9
    return new OAuthError("temporarily_unavailable", "The vendor cannot be reached", {
      cause: error,
      detail: `${call.what}: ${error.kind}`,
      ...(error.sent && call.spends ? { retry: "restart" } : {}),
    });
  }
  // No `cause`: oauth4webapi keeps the vendor's response in it, tokens included.
  if (isLibraryError(error))
    return invalidVendorResponse(`${call.what}: ${error.code} ${error.message}`, defined({ reason }));
  return error;
}

function isLibraryError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("OAUTH_");
}
