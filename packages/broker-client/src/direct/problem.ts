/**
 * Translates an error of oauth-core to the one error of this package, with the broker's code for
 * it.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import { BrokerClientError } from "../error.ts";

/** Any other error is a bug, and is returned unchanged. */
export function problem(error: unknown): BrokerClientError {
  if (error instanceof BrokerClientError) return error;
  if (!(error instanceof OAuthError)) throw error;
  const { code, description, extras, retryAfterSeconds } = error;
  return new BrokerClientError(code, description, {
    ...extras,
    ...defined({ retryAfterSeconds }),
  });
}
