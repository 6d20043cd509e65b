/**
 * One error class for everything the other side may see. The code decides the status; the
 * description is safe to show to anyone; `detail` and `cause` are for the operator's log only.
 * Foreign errors are translated once, as they enter.
 */
import { defined } from "../mechanics/defined.ts";

/** The closed set of wire codes and the status of each as a JSON answer. */
const STATUS = {
  //= rfc6749#5.2
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  //= rfc6749#4.1.2.1
  access_denied: 400,
  unsupported_response_type: 400,
  server_error: 500,
  temporarily_unavailable: 503,
  //= rfc7591#3.2.2
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  //= rfc8707#2
  invalid_target: 400,
  //= oidc-core#3.1.2.6
  request_not_supported: 400,
  request_uri_not_supported: 400,
  //= rfc7009#2.2.1
  unsupported_token_type: 400,
  //= rfc8628#3.5
  slow_down: 429,
  // Our own codes: not registered, documented in docs/api.md.
  vendor_credentials_rejected: 400,
  vendor_response_invalid: 502,
  not_found: 404,
  method_not_allowed: 405,
} as const;

/** The `error` of an answer: a registered code, or one of our own. Each has one HTTP status. */
export type OAuthErrorCode = keyof typeof STATUS;

/** Members of the error body beyond RFC 6749, all optional, all safe to show to anyone. */
export interface OAuthErrorExtras {
  /** Which deadline or rule, in one word: `vendor_code_expired`, `code_burned`, … */
  readonly reason?: string;
  /** Something was spent and the response is lost: the caller must start a new flow. */
  readonly retry?: "restart";
  /** The vendor's own error code, reduced to the characters of rfc6749#5.2. */
  readonly vendorError?: string;
  readonly credentialsSource?: "shared" | "byoc" | "environment";
  /** What the user can do by hand. */
  readonly help?: string;
}

/**
 * What an error carries in addition to its code: for the client (see OAuthErrorExtras), for the
 * answer's headers, for the log.
 */
export interface OAuthErrorOptions extends OAuthErrorExtras {
  /** For the log, never for the wire. */
  readonly detail?: string;
  readonly cause?: unknown;
  /** Replaces the table's status: 403, 413 and 415 of `invalid_request`. */
  readonly status?: 403 | 413 | 415;
  /** Seconds, for `Retry-After`. Defaults to 5 on 503 and 429. */
  readonly retryAfterSeconds?: number;
  /** `Allow` of a 405. */
  readonly allow?: string;
  /** The scheme of a 401's challenge. Default `Basic`. */
  readonly challenge?: "Basic" | "Bearer";
}

/**
 * The one error that the other side sees, as RFC 6749 §5.2 shapes it. `description` is safe for
 * strangers; `detail` and `cause` are for the log.
 */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;
  /** One sentence, printable ASCII without `"` and `\` (rfc6749#5.2). */
  readonly description: string;
  readonly detail: string | undefined;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;
  readonly challenge: "Basic" | "Bearer";
  readonly extras: OAuthErrorExtras;

  constructor(code: OAuthErrorCode, description: string, options: OAuthErrorOptions = {}) {
    const { detail, cause, status, retryAfterSeconds, allow, challenge = "Basic", ...extras } = options;
    super(`${code}: ${description}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.description = description;
    this.detail = detail;
    this.status = status ?? STATUS[code];
    this.retryAfterSeconds = retryAfterSeconds ?? (this.status === 503 || this.status === 429 ? 5 : undefined);
    this.allow = allow;
    this.challenge = challenge;
    this.extras = extras;
  }

  /** For the operator's terminal: a server writes the detail to its log. */
  get operatorText(): string {
    return this.detail === undefined ? this.description : `${this.description}: ${this.detail}`;
  }
}

/**
 * Every error that is not an OAuthError becomes `server_error`, here and nowhere else; the original
 * is kept as `cause`.
 */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  return new OAuthError("server_error", "Something went wrong on our side", {
    cause: error,
    detail: error instanceof Error ? error.name : typeof error,
  });
}

/** Whether another party, the store or the keys did not respond: the same request may succeed later. */
export function isOutage(error: unknown): error is OAuthError {
  return error instanceof OAuthError && error.code === "temporarily_unavailable";
}

/**
 * The same outage after something was spent: the caller has to start a new flow. Any other error is
 * returned unchanged.
 */
export function withRestart(error: OAuthError): OAuthError {
  return isOutage(error) ? withRetry("restart", error) : error;
}

/** The same outage where nothing is spent after all: the caller may repeat its request. */
export function withoutRestart(error: OAuthError): OAuthError {
  return isOutage(error) ? withRetry(undefined, error) : error;
}

/** The same error with another `retry`. */
export function withRetry(retry: OAuthErrorExtras["retry"], error: OAuthError): OAuthError {
  const { retry: before, ...extras } = error.extras;
  if (before === retry) return error;
  const { retryAfterSeconds, detail } = error;
  return new OAuthError(error.code, error.description, {
    ...extras,
    cause: error,
    ...defined({ retry, retryAfterSeconds, detail }),
  });
}

const NOT_ERROR_TEXT = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g;

/** Reduces foreign text to the characters and length an error member may have (bar CB-10). */
//= rfc6749#5.2
export function errorText(text: string): string {
  return text.slice(0, 512).replace(NOT_ERROR_TEXT, " ").trim();
}

/** The members of an error as spelled on the wire. Used by the JSON body and by the redirect. */
export function errorMembers(error: OAuthError, flowId?: string): Record<string, string> {
  const { reason, retry, vendorError = "", credentialsSource, help } = error.extras;
  const vendorCode = errorText(vendorError);
  return {
    error: error.code,
    error_description: error.description,
    ...(flowId === undefined ? {} : { flow_id: flowId }),
    ...defined({ reason, retry }),
    ...(vendorCode === "" ? {} : { vendor_error: vendorCode }),
    ...(credentialsSource === undefined ? {} : { credentials_source: credentialsSource }),
    ...defined({ help }),
  };
}
