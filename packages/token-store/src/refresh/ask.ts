/** The one question to the vendor in an attempt, with an end. refresh.ts and failure.ts call it. */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Attempt, RefreshableTokens, RefreshCall, RefreshContext } from "./context.ts";
import type { TokenSet } from "../tokens/tokens.ts";

/** After the signal, for `refresh` to say what became of the request: it knows whether anything was sent. */
const LAST_WORD_MS = 250;

/** @throws what `refresh` throws; OAuthError temporarily_unavailable, `retry: "restart"`, when it does not end in time */
export async function askVendor(
  current: RefreshableTokens,
  attempt: Attempt,
  { refresh }: Pick<RefreshCall, "refresh">,
  { times: { vendorTimeoutMs } }: Pick<RefreshContext, "times">,
): Promise<TokenSet> {
  const deadline = new AbortController();
  const giveUp = Promise.withResolvers<never>();
  const abort = setTimeout(() => deadline.abort(tooLate()), vendorTimeoutMs);
  const leave = setTimeout(() => giveUp.reject(tooLate()), vendorTimeoutMs + LAST_WORD_MS);
  try {
    const { attemptId } = attempt.lease;
    return await Promise.race([refresh(current, { attemptId, signal: deadline.signal }), giveUp.promise]);
  } catch (error) {
    throw isAborted(error) ? tooLate(error) : error;
  } finally {
    clearTimeout(abort);
    clearTimeout(leave);
  }
}

function tooLate(cause?: unknown): OAuthError {
  return new OAuthError("temporarily_unavailable", "The vendor does not answer", {
    reason: "vendor_unavailable",
    retry: "restart",
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What fetch throws for a signal. */
function isAborted(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}
