/**
 * GitHub's token endpoint. Every error is HTTP 200; the answer is a form unless JSON is asked for.
 *
 * Seen (docs.github.com "Authorizing OAuth apps", "Troubleshooting OAuth app access token request
 * errors", "Refreshing user access tokens", read 2026-11-21 in the github/docs repository): form by
 * default, comma scopes, `bearer`, the four errors and their texts, 8 hours and 6 months, a refresh
 * ends the old refresh token and the old access token at once.
 * Seen (https://www.nango.dev/blog/github-app-oauth-refresh-token-bad-refresh-token):
 * bad_refresh_token and its text; that page says it comes with 400, older recollection says 200,
 * which is what this does.
 * Recalled: token prefixes, refresh_token_expires_in, Basic accepted.
 * Assumed: a wrong verifier is bad_verification_code.
 */
import type { Context } from "hono";
import { isSecretOf, readCredentials } from "./base/clients.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { json, readMembers, type Members } from "./base/members.ts";
import { isVerifiedBy } from "./base/pkce.ts";
import { newGrant, type Grant } from "./base/tokens.ts";
import type { GitHubClient, GitHubState } from "./github-state.ts";

const HOUR_SECONDS = 3600;
const ACCESS_LIFETIME_SECONDS = 8 * HOUR_SECONDS;
/** 184 days. */
const REFRESH_LIFETIME_SECONDS = 184 * 24 * HOUR_SECONDS;

const ERROR_TEXT = {
  incorrect_client_credentials: "The client_id and/or client_secret passed are incorrect.",
  redirect_uri_mismatch: "The redirect_uri MUST match the registered callback URL for this application.",
  bad_verification_code: "The code passed is incorrect or expired.",
  unverified_user_email: "The user must have a verified primary email.",
  bad_refresh_token: "The refresh token passed is incorrect or expired.",
  unsupported_grant_type: "The grant type must be authorization_code or refresh_token.",
} as const;

type TokenError = keyof typeof ERROR_TEXT;

export const GITHUB_TOKEN_ERRORS = Object.keys(ERROR_TEXT);

export function serveGitHubTokens(state: GitHubState): void {
  state.app.post("/login/oauth/access_token", async (c) => {
    const members = await readMembers(c);
    const forced = state.takeRefusal("token");
    const answer = forced === undefined ? exchange(c, members, state) : errorOf(forced as TokenError);
    return encoded(c, answer);
  });
}

type Answer = Readonly<Record<string, string | number>>;

function exchange(c: Context<VendorEnv>, members: Members, state: GitHubState): Answer {
  const { clientId, clientSecret } = readCredentials(c, members);
  const client = state.clients.find(clientId);
  if (client === undefined || !isSecretOf(client, clientSecret)) return errorOf("incorrect_client_credentials");
  const grantType = members.get("grant_type") ?? "authorization_code";
  if (grantType === "refresh_token") return refresh(client, members, state);
  return grantType === "authorization_code" ? redeem(client, members, state) : errorOf("unsupported_grant_type");
}

function redeem(client: GitHubClient, members: Members, state: GitHubState): Answer {
  const code = members.get("code") ?? "";
  const found = state.codes.find(code);
  if (found?.state !== "live" || found.bound.clientId !== client.clientId) return errorOf("bad_verification_code");
  const { redirectUri, scopes, user, challenge } = found.bound;
  const sentRedirect = members.get("redirect_uri");
  if (sentRedirect !== undefined && sentRedirect !== redirectUri) return errorOf("redirect_uri_mismatch");
  const bound = challenge === undefined ? undefined : { challenge, method: "S256" as const };
  if (!isVerifiedBy(bound, members.get("code_verifier"))) return errorOf("bad_verification_code");
  if (state.unverified.has(user.id)) return errorOf("unverified_user_email");
  state.codes.spend(code);
  return issue(client, newGrant({ user: user.id, clientId: client.clientId, scopes }), state);
}

function refresh(client: GitHubClient, members: Members, state: GitHubState): Answer {
  const found = state.tokens.find(members.get("refresh_token"));
  const isGood = found?.state === "live" && found.kind === "refresh" && found.grant.clientId === client.clientId;
  if (!isGood) return errorOf("bad_refresh_token");
  state.tokens.endGrants((grant) => grant.id === found.grant.id, "rotated");
  return issue(client, found.grant, state);
}

function issue(client: GitHubClient, grant: Grant, { tokens }: GitHubState): Answer {
  const isApp = client.kind === "github-app";
  const expires = client.expiringTokens ?? (isApp || grant.scopes.includes("offline_access"));
  const about = { prefix: isApp ? "ghu_" : "gho_" };
  const scope = grant.scopes.filter((one) => one !== "offline_access").join(",");
  if (!expires) return { access_token: tokens.issue("access", grant, about), token_type: "bearer", scope };
  return {
    access_token: tokens.issue("access", grant, { ...about, lifetimeSeconds: ACCESS_LIFETIME_SECONDS }),
    expires_in: ACCESS_LIFETIME_SECONDS,
    refresh_token: tokens.issue("refresh", grant, { prefix: "ghr_", lifetimeSeconds: REFRESH_LIFETIME_SECONDS }),
    refresh_token_expires_in: REFRESH_LIFETIME_SECONDS,
    token_type: "bearer",
    scope,
  };
}

function errorOf(error: TokenError): Answer {
  const page = "/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors";
  return { error, error_description: ERROR_TEXT[error], error_uri: `${page}/#${error.replaceAll("_", "-")}` };
}

function encoded(c: Context<VendorEnv>, answer: Answer): Response {
  if (c.req.header("Accept")?.includes("application/json") === true) return json(answer);
  const form = new URLSearchParams(Object.entries(answer).map(([name, value]) => [name, String(value)]));
  return c.body(form.toString(), 200, {
    "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
    "Cache-Control": "no-store",
  });
}
