import { defined, OAuthError } from "@oauth-broker/oauth-core";

/** For the operator: the keyset in the store cannot be opened then, and `keys new` does not replace it. */
export const IF_KEY_FILE_IS_LOST =
  "If it is lost, delete the file of the store and start the broker; main.js keys new then goes on, and ends every connection";

/** @param detail for the operator: what is wrong and what to do */
export function keysUnavailable(detail: string, cause?: unknown): OAuthError {
  return new OAuthError("temporarily_unavailable", "The keys cannot be opened", {
    reason: "keys_unavailable",
    detail,
    ...defined({ cause }),
  });
}
