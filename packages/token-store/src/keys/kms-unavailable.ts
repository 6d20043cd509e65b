/**
 * The one error for "no data key to be had now", whether the key service failed or too many already wait for it. Nothing
 * is sealed or opened then, and nothing is remembered of it: the next call asks again.
 */
import { OAuthError } from "@oauth-broker/oauth-core";

/** At which a caller may try again; a service that returned is in use again well within the bar's ten seconds. */
const RETRY_AFTER_SECONDS = 5;

/** @param detail for the operator: what happened and what to do. Never a wrapped key */
export function kmsUnavailable(detail: string): OAuthError {
  //= bar#TS-12
  return new OAuthError("temporarily_unavailable", "The key service does not answer", {
    reason: "kms_unavailable",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    detail,
  });
}
