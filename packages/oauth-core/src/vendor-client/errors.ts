/**
 * What a vendor, the network and oauth4webapi can answer with, as one OAuthError: translated here
 * and nowhere else. Nothing of a vendor's answer reaches a description; of its error codes only the
 * permitted characters travel.
 */
import { defined } from "../mechanics/defined.ts";
import type { Clock } from "../ports.ts";
import { errorText, OAuthError, type OAuthErrorCode } from "../protocol/errors.ts";
import type { ErrorMeaning, TokenErrors } from "../vendors/dialect.ts";
import type { VendorCredentials } from "../vendors/vendor.ts";
import { isEgressError } from "../egress/errors.ts";

/** What was asked, as far as it decides what a failure means. */
export interface VendorCall {
  /** For the log: "code redemption", "refresh", … */
  readonly what: string;
  /** A code or a rotating refresh token travels: when the answer is lost, so is what was sent. */
  readonly spends: boolean;
  /**
   * The vendor takes nothing back once it saw the request, even if it answers that it is
   * overloaded.
   */
  readonly spendsOnRefusal?: boolean;
  readonly credentialsSource?: VendorCredentials["source"];
  /** The vendor's own codes; they win over the table below. */
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
  // Spellings met in the wild, most of them inside a 200 (quirk 25), that can mean one thing only:
  // vendors of endpoints alone have no file of their own. What a vendor's words mean there alone is
  // in its file (`tokenErrors`).
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
  temporarily_unavailable: "The vendor cannot answer now",
  vendor_response_invalid: "The vendor refused the request",
};

/**
 * The vendor refused, with an error code.
 *
 * @param vendorCode its error code as received; cut before it goes anywhere
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

/** @returns what the vendor's own file says of a code; undefined where it says nothing */
export function ownMeaning<Code extends OAuthErrorCode>(
  own: Readonly<Record<string, ErrorMeaning<Code>>> | undefined,
  vendorCode: string,
): { readonly code: Code; readonly reason?: string; readonly description?: string } | undefined {
  const meaning = own !== undefined && Object.hasOwn(own, vendorCode) ? own[vendorCode] : undefined;
  return typeof meaning === "string" ? { code: meaning } : meaning;
}

/** The vendor refused our authentication without saying so in a body. */
//= rfc6749#5.2
export function vendorRefusedClient(call: VendorCall): OAuthError {
  return new OAuthError("vendor_credentials_rejected", DESCRIPTIONS.vendor_credentials_rejected ?? "", {
    detail: `${call.what}: 401 without an error code`,
    ...(call.credentialsSource === undefined ? {} : { credentialsSource: call.credentialsSource }),
  });
}

/**
 * The vendor answered, and the answer breaks its contract.
 *
 * @param detail for the log; never of the answer's content
 */
export function invalidVendorResponse(detail: string, options: { cause?: unknown; reason?: string } = {}): OAuthError {
  return new OAuthError("vendor_response_invalid", "The vendor's answer breaks its contract", { detail, ...options });
}

/** The vendor answered that it cannot answer. */
export function vendorUnavailable(response: Response, call: VendorCall, now: Clock): OAuthError {
  const retryAfterSeconds = parseRetryAfter(response.headers.get("retry-after"), now);
  return new OAuthError("temporarily_unavailable", "The vendor cannot answer now", {
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

/**
 * Anything thrown while a vendor was asked. An error that is neither of the network nor of
 * oauth4webapi is a bug of ours and comes back as it is.
 */
export function translateVendorError(error: unknown, call: VendorCall): unknown {
  if (error instanceof OAuthError) return error;
  if (isEgressError(error)) {
    // An answer that is too long is an answer, and a wrong one.
    if (error.kind === "too_large") return invalidVendorResponse(`${call.what}: answer too large`, { cause: error });
    //= bar#EG-9
    return new OAuthError("temporarily_unavailable", "The vendor cannot be reached", {
      cause: error,
      detail: `${call.what}: ${error.kind}`,
      ...(error.sent && call.spends ? { retry: "restart" } : {}),
    });
  }
  // No `cause`: oauth4webapi keeps the vendor's answer in it, tokens included.
  if (isLibraryError(error)) return invalidVendorResponse(`${call.what}: ${error.code} ${error.message}`);
  return error;
}

function isLibraryError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("OAUTH_");
}
