/** A read, and a write that depends on it, repeated while other writers come in between. */
import { OAuthError } from "@oauth-broker/oauth-core";

/** Another writer may write between a read and the write that depends on it, but not every time. */
const MAX_TRIES = 8;

/**
 * @param attempt returns `changed` when another writer was faster
 * @throws OAuthError temporarily_unavailable, reason `record_in_use`
 */
export async function untilUnchanged<T>(attempt: () => Promise<T | "changed">): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const result = await attempt();
    if (result !== "changed") return result;
  }
  throw keptChanging();
}

export function keptChanging(): OAuthError {
  return new OAuthError("temporarily_unavailable", "The stored tokens are in use by another request", {
    reason: "record_in_use",
    detail: "the row kept changing",
  });
}
