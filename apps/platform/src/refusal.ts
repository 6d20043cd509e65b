/** What the platform refuses, as the pages and the log name it. */
import { OAuthError, type OAuthErrorCode } from "@oauth-broker/oauth-core";

/**
 * @param reason one word, for the log
 * @param description for the user, without a full stop
 */
export function refusal(
  reason: string,
  description: string,
  code: OAuthErrorCode = "invalid_request",
  cause?: unknown,
): OAuthError {
  return new OAuthError(code, description, { reason, cause });
}
