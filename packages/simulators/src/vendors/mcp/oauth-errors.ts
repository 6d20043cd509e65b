/** Errors in the form of RFC 6749 5.2 and RFC 7591 3.2.2, which these servers keep. */
import { json } from "../base/members.ts";

const STATUS: Readonly<Record<string, number>> = {
  invalid_client: 401,
  invalid_token: 401,
  server_error: 500,
  temporarily_unavailable: 503,
  too_many_requests: 429,
};

/** The codes of both the authorization and the token endpoint. */
const SHARED = [
  "invalid_request",
  "invalid_scope",
  "invalid_target",
  "unauthorized_client",
  "server_error",
  "temporarily_unavailable",
];

export const TOKEN_ERRORS = [
  ...SHARED,
  "invalid_client",
  "invalid_grant",
  "unsupported_grant_type",
  "too_many_requests",
];

export const CALLBACK_ERRORS = [...SHARED, "access_denied", "unsupported_response_type"];

export const REGISTRATION_ERRORS = [
  "invalid_redirect_uri",
  "invalid_client_metadata",
  "too_many_requests",
  "server_error",
];

export const REVOCATION_ERRORS = ["invalid_client", "unsupported_token_type", "temporarily_unavailable"];

/** Status by code, 400 unless listed. */
export function oauthError(error: string, description?: string): Response {
  const body = { error, ...(description === undefined ? {} : { error_description: description }) };
  const retry = error === "too_many_requests" || error === "temporarily_unavailable" ? { "Retry-After": "30" } : {};
  const challenge = error === "invalid_client" ? { "WWW-Authenticate": 'Basic realm="token"' } : {};
  return json(body, STATUS[error] ?? 400, { ...retry, ...challenge });
}
