/**
 * Translates every failure of a vendor, the network and oauth4webapi to one OAuthError, here and
 * nowhere else. No text of a vendor's response reaches a description; of its error codes only the
 * permitted characters are kept.
 */
import { defined } from "../mechanics/defined.ts";
import type { Clock } from "../ports.ts";
import { errorText, OAuthError, type OAuthErrorCode } from "../protocol/errors.ts";
import type { ErrorMeaning, TokenErrors } from "../vendors/dialect.ts";
import type { VendorCredentials } from "../vendors/vendor.ts";
import { type EgressErrorKind, isEgressError } from "../egress/errors.ts";

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
  readonly credentialsSource?: VendorCredentials["source"];
  /** The vendor's own codes; they take precedence over the table below. */
  readonly errors?: TokenErrors;
}

//= bar#VR-9
const BY_VENDOR_CODE: ReadonlyMap<string, OAuthErrorCode> = new Map<string, OAuthErrorCode>([
  ["invalid_grant", "invalid_grant"],
  ["invalid_client", "vendor_credentials_rejected"],
  ["unauthorized_client", "vendor_credentials_rejected"],
  ["invalid_scope", "invalid_scope"],
  ["temporarily_unavailable", "temporarily_unavailable"],
  ["slow_down", "temporarily_unavailable"],
  // Spellings seen in practice, most of them inside a 200, that can mean one thing only:
  // vendors known by their endpoints alone have no file of their own. A code with a special meaning
  // at one vendor is in that vendor's file (`tokenErrors`).
  ["bad_verification_code", "invalid_grant"],
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
]);

const DESCRIPTIONS: Readonly<Partial<Record<OAuthErrorCode, string>>> = {
  invalid_grant: "The vendor refused the grant: the user must authorize again",
  vendor_credentials_rejected: "The vendor refused the client credentials: update them",
  invalid_scope: "The vendor refused the scope",
  temporarily_unavailable: "The vendor is unavailable at the moment",
  vendor_response_invalid: "The vendor refused the request",
};

/**
 * The vendor refused, with an error code.
 *
 * @param vendorCode its error code as received; reduced before it is used
 */
export function vendorRefusal(vendorCode: string, call: VendorCall, retryAfterSeconds?: number): OAuthError {
  const own = ownMeaning(call.errors, vendorCode);
  const code = own?.code ?? BY_VENDOR_CODE.get(vendorCode) ?? "vendor_response_invalid";
  const isOutage = code === "temporarily_unavailable";
  return new OAuthError(code, own?.description ?? DESCRIPTIONS[code] ?? "", {
    vendorError: safeVendorCode(vendorCode),
    ...(own?.reason === undefined ? {} : { reason: own.reason }),
    detail: `${call.what} refused`,
    ...(code === "vendor_credentials_rejected" && call.credentialsSource !== undefined
      ? { credentialsSource: call.credentialsSource }
      : {}),
    ...(isOutage && call.spendsOnRefusal === true ? { retry: "restart" } : {}),
    ...(isOutage && retryAfterSeconds !== undefined ? { retryAfterSeconds } : {}),
  });
}

/** @returns what the vendor's own file says of a code; undefined when it says nothing */
export function ownMeaning<Code extends OAuthErrorCode>(
  own: Readonly<Record<string, ErrorMeaning<Code>>> | undefined,
  vendorCode: string,
): { readonly code: Code; readonly reason?: string; readonly description?: string } | undefined {
  const meaning = own !== undefined && Object.hasOwn(own, vendorCode) ? own[vendorCode] : undefined;
  return typeof meaning === "string" ? { code: meaning } : meaning;
}

/** The vendor refused our client authentication without an error code in the body. */
//= rfc6749#5.2
export function vendorRefusedClient(call: VendorCall): OAuthError {
  return new OAuthError("vendor_credentials_rejected", DESCRIPTIONS.vendor_credentials_rejected ?? "", {
    detail: `${call.what}: 401 without an error code`,
    ...(call.credentialsSource === undefined ? {} : { credentialsSource: call.credentialsSource }),
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
  const retryAfterSeconds = parseRetryAfter(response.headers.get("retry-after"), now);
  return new OAuthError("temporarily_unavailable", "The vendor is unavailable at the moment", {
    detail: `${call.what}: status ${response.status}`,
    ...defined({ retryAfterSeconds }),
    ...(call.spendsOnRefusal === true ? { retry: "restart" } : {}),
  });
}

export function safeVendorCode(vendorCode: string): string {
  return errorText(vendorCode.slice(0, 64));
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const MAX_RETRY_AFTER_SECONDS = 60;
const DEFAULT_RETRY_AFTER_SECONDS = 5;

/**
 * @param value `Retry-After` as received: seconds or an HTTP date
 * @returns 1 to 60 seconds; 5 for what is neither, or lies in the past; undefined when absent
 */
//= rfc9110#10.2.3
export function parseRetryAfter(value: string | null, now: Clock): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d{1,15}$/.test(value)
    ? Number(value)
    : HTTP_DATE.test(value)
      ? Math.ceil(Date.parse(value) / 1000) - now()
      : NaN;
  if (!(seconds >= 0)) return DEFAULT_RETRY_AFTER_SECONDS;
  return Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_SECONDS);
}

const WRONG_ANSWERS: ReadonlyMap<EgressErrorKind, string> = new Map([
  ["too_large", "response too large"],
  ["unreadable", "unreadable response"],
]);

/**
 * Any error thrown while a vendor was asked. An error that is neither of the network nor of
 * oauth4webapi is a bug of ours and is returned unchanged.
 */
export function translateVendorError(error: unknown, call: VendorCall): unknown {
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
  if (isLibraryError(error)) return invalidVendorResponse(`${call.what}: ${error.code} ${error.message}`);
  return error;
}

function isLibraryError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("OAUTH_");
}
