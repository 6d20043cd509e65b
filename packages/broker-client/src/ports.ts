/**
 * Types that this package shares with oauth-core and has to itself: a backend that uses the broker
 * installs no oauth-core, and the declarations of the root entry have to be complete without it.
 */

/** Whole seconds since 1970-01-01T00:00:00Z, the NumericDate of rfc7519#2. */
export type EpochSeconds = number;

/** The source of time. */
export type Clock = () => EpochSeconds;

/** The web's fetch. */
export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** What JSON can say (RFC 8259). */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object (RFC 8259 §4). */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}
