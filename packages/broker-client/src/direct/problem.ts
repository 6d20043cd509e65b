/** An error of oauth-core as the one error of this package, in the words the broker has for it. */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import { BrokerClientError } from "../error.ts";

/** Anything that is neither is a bug, and comes back as it is. */
export function problem(error: unknown): BrokerClientError {
  if (error instanceof BrokerClientError) return error;
  if (!(error instanceof OAuthError)) throw error;
  const { code, description, extras, retryAfterSeconds } = error;
  return new BrokerClientError(code, description, {
    ...extras,
    ...defined({ retryAfterSeconds }),
  });
}
