/**
 * The one error a RecordStore shows: the engine did not answer. The only place of this package that needs more than the
 * types of oauth-core, because the port promises this very class.
 */
import { OAuthError } from "@oauth-broker/oauth-core";

/** @param cause what the engine said; kept for the log, never for the wire */
export function storeUnavailable(cause: unknown): OAuthError {
  const detail = cause instanceof Error ? cause.message : undefined;
  return new OAuthError("temporarily_unavailable", "The record store does not answer", {
    reason: "store_unavailable",
    cause,
    ...(detail === undefined ? {} : { detail }),
  });
}
