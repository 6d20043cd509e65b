/**
 * What a failed refresh means for the tokens a backend stores. Callers: refresh of the client
 * for the broker and of `direct`.
 */
import { type BrokerClientError, isOutage } from "./error.ts";
import type { Refreshed } from "./types.ts";

const DEFAULT_RETRY_SECONDS = 5;
/** A response that breaks its contract says nothing about when it will be repaired. */
const BROKEN_RETRY_SECONDS = 60;

/**
 * The vendor or the broker misbehaves: the refresh token was not spent, or `retry` would say so.
 */
const BROKEN: ReadonlySet<string> = new Set(["vendor_response_invalid", "server_error"]);

/** The tokens have no refresh token: the vendor issues none, or issued none to this app. */
export const NOTHING_TO_REFRESH: Refreshed = { outcome: "reauthorize", reason: "no_refresh_token" };

/** @throws the error when it has no outcome: the request itself was wrong */
export function refreshFailure(error: BrokerClientError): Exclude<Refreshed, { readonly outcome: "ok" }> {
  const { code, details } = error;
  const { reason = code, retryAfterSeconds, credentialsSource } = details;
  if (details.retry === "restart") return { outcome: "reauthorize", reason: details.reason ?? "response_lost", error };
  if (code === "invalid_grant") return { outcome: "reauthorize", reason, error };
  if (code === "vendor_credentials_rejected") {
    return { outcome: "credentials_rejected", source: credentialsSource ?? "unknown", error };
  }
  if (isOutage(error)) {
    return { outcome: "retry_later", retryAfterSeconds: retryAfterSeconds ?? DEFAULT_RETRY_SECONDS, reason, error };
  }
  if (BROKEN.has(code)) {
    return { outcome: "retry_later", retryAfterSeconds: retryAfterSeconds ?? BROKEN_RETRY_SECONDS, reason, error };
  }
  throw error;
}
