/**
 * The error of an outbound call without a usable response. All causes share one text, so that a
 * caller cannot use us to map a network; `detail` holds the cause for the operator's log.
 * Translated to an OAuthError in vendor-client/errors.ts.
 */

/**
 * - `refused`: our own rules forbid the URL, the name or the address; nothing left this process
 * - `connect`: no connection was established: DNS, TCP, TLS, or too many calls waiting for one
 * - `timeout`: the time for the whole exchange is over, or the caller's signal fired
 * - `too_large`: body or headers exceed the limits
 * - `broken`: the connection ended early: no response, or half of one
 * - `unreadable`: a response came, and it is not HTTP or cannot be decoded: asking again changes
 *   nothing
 */
export type EgressErrorKind = "refused" | "connect" | "timeout" | "too_large" | "broken" | "unreadable";

/** An outbound call without a usable answer. The message is the same for every kind. */
export interface EgressError extends Error {
  readonly name: "EgressError";
  readonly kind: EgressErrorKind;
  /**
   * Whether any byte of the request may have been written. `false` guarantees that the vendor saw
   * nothing of it.
   */
  readonly sent: boolean;
  /** For the log: host, address and error code; never a path, query, header or body. */
  readonly detail: string;
}

//= bar#EG-9
const MESSAGE = "no usable response from the other side";

/** @param detail for the operator's log; must not carry a path, query, header or body */
export function egressError(kind: EgressErrorKind, sent: boolean, detail: string): EgressError {
  return Object.assign(new Error(MESSAGE), { name: "EgressError" as const, kind, sent, detail });
}

/** Whether the error is an EgressError, by its name and members. */
export function isEgressError(error: unknown): error is EgressError {
  return error instanceof Error && error.name === "EgressError" && "kind" in error && "sent" in error;
}
