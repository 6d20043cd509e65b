/**
 * The two failures of a server: it cannot be reached, or its answer is invalid.
 */
import { OAuthError } from "@oauth-broker/oauth-core";

/** @throws OAuthError as `call` does, temporarily_unavailable for anything else it throws */
export async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw cause instanceof OAuthError ? cause : down(cause);
  }
}

export const down = (cause?: unknown): OAuthError =>
  new OAuthError("temporarily_unavailable", "The server of this connector cannot be reached now", {
    reason: "server_down",
    cause,
  });

export const broken = (reason: string, what: string, cause?: unknown): OAuthError =>
  new OAuthError("vendor_response_invalid", `The server of this connector ${what}`, { reason, cause });
