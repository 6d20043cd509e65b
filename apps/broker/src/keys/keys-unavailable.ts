import { defined, OAuthError } from "@oauth-broker/oauth-core";

/** @param detail for the operator: what is wrong and what to do */
export function keysUnavailable(detail: string, cause?: unknown): OAuthError {
  return new OAuthError("temporarily_unavailable", "The keys cannot be opened", {
    reason: "keys_unavailable",
    detail,
    ...defined({ cause }),
  });
}
