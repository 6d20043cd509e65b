/**
 * Slack's token endpoints: always HTTP 200 with `ok`, except for too many requests.
 *
 * Seen (https://docs.slack.dev/reference/methods/oauth.v2.access and …oauth.v2.user.access, from
 * the copies that the hex.pm package slack_kit 1.0.0-alpha.0 has, read 2026-11-21):
 * invalid_client_id, bad_client_secret, invalid_code, bad_redirect_uri, invalid_grant_type,
 * invalid_refresh_token, oauth_authorization_url_mismatch; a redirect_uri that was sent must be
 * repeated.
 * Seen (https://docs.slack.dev/authentication/using-token-rotation): 12 hours, the used refresh
 * token is revoked.
 * Seen (slackapi/python-slack-sdk slack_sdk/oauth/token_rotation/rotator.py): a refresh answers at
 * the top level with token_type bot or user.
 * Seen (gitlab-org merge request 259717): Basic fails at the user pair; Slack's own page recommends
 * Basic there.
 * Recalled: token prefixes, code_already_used, code_expired, token_expired, token_revoked, 429 with
 * Retry-After.
 * Assumed: the error of a wrong verifier (invalid_code), that the old access token lives until its
 * time is over.
 */
import type { Context } from "hono";
import { isSecretOf, readCredentials } from "./base/clients.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { json, readMembers, type Members } from "./base/members.ts";
import { isVerifiedBy } from "./base/pkce.ts";
import { newGrant, type Grant } from "./base/tokens.ts";
import type { SlackClient, SlackPair, SlackState, SlackTeam } from "./slack-state.ts";

export const SLACK_TOKEN_ERRORS = [
  "invalid_client_id",
  "bad_client_secret",
  "invalid_code",
  "code_already_used",
  "code_expired",
  "bad_redirect_uri",
  "invalid_grant_type",
  "invalid_refresh_token",
  "token_expired",
  "token_revoked",
  "oauth_authorization_url_mismatch",
  "ratelimited",
  "internal_error",
];

const ACCESS_LIFETIME_SECONDS = 12 * 3600;
const RETRY_AFTER_SECONDS = 30;

/** `{ok: false}` with HTTP 200; too many requests are 429. */
export function slackError(error: string): Response {
  if (error !== "ratelimited") return json({ ok: false, error });
  return json({ ok: false, error }, 429, { "Retry-After": String(RETRY_AFTER_SECONDS) });
}

export function serveSlackTokens(state: SlackState): void {
  state.app.post("/api/oauth.v2.user.access", (c) => access(c, state, "user"));
  state.app.post("/api/oauth.v2.access", (c) => access(c, state, "bot"));
}

async function access(c: Context<VendorEnv>, state: SlackState, pair: SlackPair): Promise<Response> {
  const members = await readMembers(c);
  const forced = state.takeRefusal("token");
  if (forced !== undefined) return slackError(forced);
  const sent = readCredentials(c, members);
  // At the user pair a Basic header is ignored.
  const { clientId, clientSecret } =
    pair === "user" ? { clientId: members.get("client_id"), clientSecret: members.get("client_secret") } : sent;
  const client = state.clients.find(clientId);
  if (client === undefined) return slackError("invalid_client_id");
  if (!isSecretOf(client, clientSecret)) return slackError("bad_client_secret");
  const grantType = members.get("grant_type") ?? "authorization_code";
  if (grantType === "refresh_token") return refresh(client, members, state, pair);
  return grantType === "authorization_code" ? redeem(client, members, state, pair) : slackError("invalid_grant_type");
}

function redeem(client: SlackClient, members: Members, state: SlackState, pair: SlackPair): Response {
  const code = members.get("code") ?? "";
  const found = state.codes.find(code);
  if (found === undefined || found.bound.clientId !== client.clientId) return slackError("invalid_code");
  if (found.state !== "live") return slackError(found.state === "spent" ? "code_already_used" : "code_expired");
  const { bound } = found;
  if (bound.pair !== pair) return slackError("oauth_authorization_url_mismatch");
  const sentRedirect = members.get("redirect_uri");
  if (bound.sentRedirect ? sentRedirect !== bound.redirectUri : sentRedirect !== undefined) {
    return slackError("bad_redirect_uri");
  }
  const challenge = bound.challenge === undefined ? undefined : { challenge: bound.challenge, method: "S256" as const };
  if (!isVerifiedBy(challenge, members.get("code_verifier"))) return slackError("invalid_code");
  state.codes.spend(code);

  const { user, team, botScopes, userScopes } = bound;
  const issueSet = (kind: SlackPair, scopes: readonly string[]): object => {
    const grant = newGrant({ user: user.id, clientId: client.clientId, scopes });
    state.sets.set(grant.id, { kind, team, lost: new Set() });
    return issue(client, grant, kind, state);
  };
  const person = { id: slackUserId(user.id), ...(userScopes.length === 0 ? {} : issueSet("user", userScopes)) };
  const bot = botScopes.length === 0 ? {} : { bot_user_id: "U0SAMPLEBOT", ...issueSet("bot", botScopes) };
  return json({ ok: true, app_id: "A0SAMPLE", ...bot, authed_user: person, ...place(team) });
}

/** Either chain; the answer has one set, at the top level. */
function refresh(client: SlackClient, members: Members, state: SlackState, pair: SlackPair): Response {
  const found = state.tokens.find(members.get("refresh_token"));
  const set = found === undefined ? undefined : state.sets.get(found.grant.id);
  if (found?.kind !== "refresh" || set === undefined || found.grant.clientId !== client.clientId) {
    return slackError("invalid_refresh_token");
  }
  if (pair === "user" && set.kind === "bot") return slackError("invalid_refresh_token");
  if (found.state === "expired" || found.state === "revoked") return slackError(`token_${found.state}`);
  if (found.state === "rotated") return slackError("invalid_refresh_token");
  state.tokens.end(found.value, "rotated");
  const who = set.kind === "user" ? { user_id: slackUserId(found.grant.user) } : { bot_user_id: "U0SAMPLEBOT" };
  return json({
    ok: true,
    app_id: "A0SAMPLE",
    ...issue(client, found.grant, set.kind, state),
    ...who,
    ...place(set.team),
  });
}

function issue(client: SlackClient, grant: Grant, kind: SlackPair, { tokens }: SlackState): object {
  const rotates = client.tokenRotation === true;
  const prefix = `${rotates ? "xoxe." : ""}${kind === "bot" ? "xoxb" : "xoxp"}-1-`;
  const lifetimeSeconds = rotates ? ACCESS_LIFETIME_SECONDS : undefined;
  return {
    scope: grant.scopes.join(","),
    access_token: tokens.issue("access", grant, { prefix, lifetimeSeconds }),
    token_type: kind,
    ...(rotates
      ? { refresh_token: tokens.issue("refresh", grant, { prefix: "xoxe-1-" }), expires_in: ACCESS_LIFETIME_SECONDS }
      : {}),
  };
}

function place(team: SlackTeam): object {
  return { team, enterprise: null, is_enterprise_install: false };
}

export function slackUserId(user: string): string {
  return `U0SAMPLE${user.toUpperCase()}`;
}
