/**
 * The two failures of a server: it cannot be reached, or its answer is invalid.
 */
import { type Fetch, OAuthError } from "@oauth-broker/oauth-core";
import { refusal } from "../../refusal.ts";

/** @throws OAuthError as `call` does, temporarily_unavailable for anything else it throws */
export async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw cause instanceof OAuthError ? cause : down(cause);
  }
}

/** @throws OAuthError temporarily_unavailable when no answer comes, or one that says as much */
export async function ask(fetch: Fetch, url: string, init: RequestInit = {}): Promise<Response> {
  const answer = await reach(() => fetch(url, { headers: { accept: "application/json" }, ...init }));
  if (answer.status < 500) return answer;
  throw down();
}

const down = (cause?: unknown): OAuthError =>
  refusal("server_down", "The server of this connector cannot be reached now", "temporarily_unavailable", cause);

export const broken = (reason: string, what: string, cause?: unknown): OAuthError =>
  refusal(reason, `The server of this connector ${what}`, "vendor_response_invalid", cause);
