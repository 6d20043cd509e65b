/**
 * Slack as a vendor: the pair for user tokens, which its MCP server takes, and the pair that
 * installs an app with a bot; both refresh in one place. Token endpoints answer always HTTP 200 with
 * `ok`, except for too many requests.
 *
 * Seen (https://docs.slack.dev/authentication/using-token-rotation; recorded discovery A of the
 * vendor facts; https://gitlab.com/gitlab-org/gitlab/-/merge_requests/259717; read by 2026-11-21):
 * both pairs, comma scopes, an empty scope list refused on a page, `team`, S256 on the user pair,
 * resource metadata at the root only, no registration; 12 hours, the used refresh token is revoked;
 * Basic fails at the user pair, although Slack's own page recommends it there.
 * Seen (https://docs.slack.dev/reference/methods/oauth.v2.access and …oauth.v2.user.access, from
 * the copies that the hex.pm package slack_kit 1.0.0-alpha.0 has, read 2026-11-21):
 * invalid_client_id, bad_client_secret, invalid_code, bad_redirect_uri, invalid_grant_type,
 * invalid_refresh_token, oauth_authorization_url_mismatch; a redirect_uri that was sent must be
 * repeated.
 * Seen (slackapi/python-slack-sdk slack_sdk/oauth/token_rotation/rotator.py): a refresh answers at
 * the top level with token_type bot or user.
 * Seen (https://docs.slack.dev/reference/methods/auth.revoke and
 * https://api.slack.com/methods/auth.revoke, read 2026-11-21): Bearer or a `token` member, `test=1`
 * changes nothing, `{ok, revoked}`, invalid_auth, not_authed; it ends that one token.
 * Seen (https://devopsaitoolkit.com/blog/slack-error-token-revoked): token_revoked and
 * token_expired differ from invalid_auth.
 * Seen (https://github.com/elementary-data/elementary/pull/705 and
 * https://devopsaitoolkit.com/blog/slack-error-missing-scope/, read 2026-11-22): missing_scope with
 * `needed` and `provided`, comma-separated.
 * Recalled: the other pages' texts, callbacks below a registered one, a code of 10 minutes, what
 * waiting for an administrator looks like (a page, and no callback until the person starts again);
 * token prefixes, code_already_used, code_expired, token_expired, token_revoked, 429 with
 * Retry-After; account_inactive, auth.test, the scopes in the header X-OAuth-Scopes,
 * the members of chat.postMessage.
 * Assumed: the error of a wrong verifier (invalid_code), that the old access token lives until its
 * time is over, that a refresh token can be given to auth.revoke as well.
 */
import type { Context } from "hono";
import { ACCOUNTS, noticePage } from "../pages.ts";
import { bearerToken, isSecretOf, readCredentials } from "./base/clients.ts";
import { createCodes, type Bound, type CodeMistake, type Codes } from "./base/codes.ts";
import type { ConsentOutcome } from "./base/consent.ts";
import { startVendorHost, wayBack, type VendorHost } from "./base/host.ts";
import { json, queryMembers, type Members } from "./base/members.ts";
import type { SimulatedClient, SimulatorOptions, VendorEnv } from "./base/simulator.ts";
import { newGrant, type Grant, type HeldToken } from "./base/tokens.ts";

export interface SlackClient extends SimulatedClient {
  /** Access tokens live 12 hours and come with refresh tokens. Default false. */
  readonly tokenRotation?: boolean;
}

export type SlackSimulator = Awaited<ReturnType<typeof startSlack>>;

type Pair = "user" | "bot";

interface Team {
  readonly id: string;
  readonly name: string;
}

const TEAMS: readonly [Team, ...Team[]] = [
  { id: "T0SAMPLE1", name: "Sample workspace" },
  { id: "T0SAMPLE2", name: "Second workspace" },
];

/** The tokens of a bot, or of a user. */
interface SlackGrant extends Grant {
  readonly kind: Pair;
  readonly team: Team;
}

interface SlackBound extends Bound {
  readonly pair: Pair;
  readonly grant: SlackGrant;
  readonly bot: SlackGrant;
  /** Whether the request had a callback; the token request must then repeat it. */
  readonly sentRedirect: boolean;
}

interface SlackState extends VendorHost<SlackClient> {
  readonly codes: Codes<SlackBound>;
}

const ACCESS_SECONDS = 12 * 3600;
const BOT = { bot_user_id: "U0SAMPLEBOT" };

const API_ERRORS = ["not_authed", "invalid_auth", "token_revoked", "token_expired", "account_inactive", "ratelimited"];

const TOKEN_ERRORS = [
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

const CODE_ERRORS: Readonly<Record<CodeMistake, string>> = {
  unknown: "invalid_code",
  spent: "code_already_used",
  expired: "code_expired",
  redirect_uri: "bad_redirect_uri",
  verifier: "invalid_code",
};

const PAGE_TEXT: Readonly<Record<string, string>> = {
  invalid_client_id: "There is no such app.",
  no_scopes: "No scopes requested",
  invalid_scope: "An unknown permission was requested.",
  bad_redirect_uri: "redirect_uri did not match any configured URIs.",
};

const SCOPE_TEXT: Readonly<Record<string, string>> = {
  "search:read.public": "Search public messages",
  "channels:history": "Read public channels you are in",
  "groups:history": "Read private channels you are in",
  "im:history": "Read your direct messages",
  "chat:write": "Send messages",
  "users:read": "See the people of the workspace",
  "canvases:read": "Read canvases",
  "canvases:write": "Change canvases",
  "files:read": "Read files",
};

/** @throws Error of node:net when the port is taken */
export async function startSlack(options: SimulatorOptions = {}) {
  const host = await startVendorHost<SlackClient>({ id: "slack", brand: "Slack" }, options);
  const codes = createCodes<SlackBound>(host, ({ sentRedirect, redirectUri }, sent) => {
    return sent === (sentRedirect ? redirectUri : undefined);
  });
  const state: SlackState = { ...host, codes };
  const approval = { isRequired: false, approved: new Set<string>() };
  const mustWait = (clientId: string): boolean => approval.isRequired && !approval.approved.has(clientId);
  const { app, url } = host;
  const pairOf = (authorize: string, token: string) => ({
    issuer: url,
    authorization_endpoint: `${url}/oauth/${authorize}/authorize`,
    token_endpoint: `${url}/api/oauth.${token}.access`,
    refresh_endpoint: `${url}/api/oauth.v2.access`,
    revocation_endpoint: `${url}/api/auth.revoke`,
  });
  const pairs = { user: pairOf("v2_user", "v2.user"), bot: pairOf("v2", "v2") };
  for (const pair of ["user", "bot"] as const) {
    const { authorization_endpoint: page, token_endpoint: token } = pairs[pair];
    app.get(new URL(page).pathname, (c) => authorize(c, state, pair, mustWait));
    host.serve(new URL(token).pathname, "token", refuse, (c, members) => access(c, members, state, pair));
  }
  serveApi(state);
  // As mcp.slack.com publishes them.
  app.get("/.well-known/oauth-authorization-server", () =>
    json({
      issuer: url,
      authorization_endpoint: pairs.user.authorization_endpoint,
      token_endpoint: pairs.user.token_endpoint,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["client_secret_post"],
      code_challenge_methods_supported: ["S256"],
    }),
  );
  app.get("/.well-known/oauth-protected-resource", () =>
    json({ resource: `${url}/mcp`, authorization_servers: [url], bearer_methods_supported: ["header"] }),
  );
  return {
    ...host.simulator(
      { ...pairs.user, userinfo_endpoint: `${url}/api/auth.test` },
      {
        authorization: ["access_denied", ...Object.keys(PAGE_TEXT)],
        token: TOKEN_ERRORS,
        revocation: API_ERRORS,
        api: API_ERRORS,
      },
    ),
    /**
     * The pair that installs a bot; `endpoints` has the one for user tokens. Both refresh at
     * `refresh_endpoint`.
     */
    botEndpoints: pairs.bot,
    /** Whether an administrator has to approve an app before it can be added; at first no. */
    requireApproval: (isRequired: boolean): void => void (approval.isRequired = isRequired),
    /** The administrator approves. The user has to start again. */
    approve: (clientId: string): void => void approval.approved.add(clientId),
  };
}

async function authorize(
  c: Context<VendorEnv>,
  state: SlackState,
  pair: Pair,
  mustWait: (clientId: string) => boolean,
): Promise<Response> {
  const query = queryMembers(c);
  const show = (error: string) => state.consent.refuse(c, PAGE_TEXT[error] ?? "", error, 200);
  const client = state.clients.get(query.get("client_id") ?? "");
  if (client === undefined) return show("invalid_client_id");
  const { clientId, name = clientId } = client;
  const redirectUri = registeredRedirect(client, query.get("redirect_uri"));
  if (redirectUri === undefined) return show("bad_redirect_uri");
  const back = wayBack(redirectUri, { state: query.get("state") });
  const forced = state.takeRefusal("authorization");
  if (forced === "access_denied") return c.redirect(back({ error: forced }).redirect);
  if (forced !== undefined) return show(forced);
  const scopes = query.list("scope", ",");
  const botScopes = pair === "bot" ? scopes : [];
  const userScopes = pair === "bot" ? query.list("user_scope", ",") : scopes;
  const all = [...botScopes, ...userScopes];
  if (all.length === 0) return show("no_scopes");
  if (!all.every((scope) => /^[a-z][a-z0-9._-]*(:[a-z0-9._-]+)*$/.test(scope))) return show("invalid_scope");

  const team = TEAMS.find(({ id }) => id === query.get("team")) ?? TEAMS[0];
  const challenge = query.get("code_challenge");
  return state.consent.ask(c, {
    app: name,
    permissions: all.map((scope) => ({ scope, text: `${SCOPE_TEXT[scope] ?? "Use a permission"} in ${team.name}` })),
    onAllow: ({ id: user }): ConsentOutcome => {
      if (mustWait(clientId)) return waiting(name);
      const grantOf = (kind: Pair, scopes: readonly string[]): SlackGrant => {
        return { ...newGrant({ user, clientId, scopes }), kind, team };
      };
      const code = state.codes.issue({
        pair,
        grant: grantOf("user", userScopes),
        bot: grantOf("bot", botScopes),
        redirectUri,
        sentRedirect: query.get("redirect_uri") !== undefined,
        challenge: challenge === undefined ? undefined : { challenge, method: "S256" },
      });
      return back({ code });
    },
    onCancel: () => back({ error: "access_denied" }),
  });
}

function waiting(app: string): ConsentOutcome {
  const title = "Your request was sent";
  const text = `An administrator has to approve ${app} first. You will hear from Slack when they have.`;
  return { title, page: noticePage(title, text) };
}

/** A registered callback, or an address below one. */
function registeredRedirect({ redirectUris }: SlackClient, asked: string | undefined): string | undefined {
  if (asked === undefined) return redirectUris[0];
  const fits = redirectUris.some((registered) => `${asked}/`.startsWith(`${registered.replace(/\/$/, "")}/`));
  return fits && !asked.includes("/../") ? asked : undefined;
}

/** `{ok: false}` with HTTP 200; too many requests are 429. */
function refuse(error: string): Response {
  return error === "ratelimited"
    ? json({ ok: false, error }, 429, { "Retry-After": "30" })
    : json({ ok: false, error });
}

function access(c: Context<VendorEnv>, members: Members, state: SlackState, pair: Pair): Response {
  // At the user pair a Basic header is ignored.
  const inBody = { clientId: members.get("client_id"), clientSecret: members.get("client_secret") };
  const { clientId, clientSecret } = pair === "user" ? inBody : readCredentials(c, members);
  const client = state.clients.get(clientId ?? "");
  if (client === undefined) return refuse("invalid_client_id");
  if (!isSecretOf(client, clientSecret)) return refuse("bad_client_secret");
  const grantType = members.get("grant_type") ?? "authorization_code";
  if (grantType === "refresh_token") return refresh(client, members, state, pair);
  if (grantType !== "authorization_code") return refuse("invalid_grant_type");
  return state.codes.redeem<Response>(members, client, {
    refuse: (mistake) => refuse(CODE_ERRORS[mistake]),
    check: (bound) => (bound.pair === pair ? undefined : refuse("oauth_authorization_url_mismatch")),
    answer: ({ grant, bot }) => {
      const issued = (of: SlackGrant) => (of.scopes.length === 0 ? {} : issue(client, of, state));
      const person = { id: userId(grant.user), ...issued(grant) };
      return answer(grant, { ...(bot.scopes.length === 0 ? {} : BOT), ...issued(bot), authed_user: person });
    },
  });
}

/** Either chain; the answer has one set, at the top level. */
function refresh(client: SlackClient, members: Members, state: SlackState, pair: Pair): Response {
  const found = state.tokens.find(members.get("refresh_token"), "refresh", client.clientId);
  if (found === undefined) return refuse("invalid_refresh_token");
  const grant = found.grant as SlackGrant;
  if (pair === "user" && grant.kind === "bot") return refuse("invalid_refresh_token");
  if (found.state === "expired" || found.state === "revoked") return refuse(`token_${found.state}`);
  if (found.state === "rotated") return refuse("invalid_refresh_token");
  state.tokens.end(found.value, "rotated");
  const who = grant.kind === "user" ? { user_id: userId(grant.user) } : BOT;
  return answer(grant, { ...issue(client, grant, state), ...who });
}

function issue({ tokenRotation = false }: SlackClient, grant: SlackGrant, { tokens }: SlackState): object {
  const prefix = `${tokenRotation ? "xoxe." : ""}${grant.kind === "bot" ? "xoxb" : "xoxp"}-1-`;
  const lifetimeSeconds = tokenRotation ? ACCESS_SECONDS : undefined;
  const access = {
    scope: grant.scopes.join(","),
    access_token: tokens.issue("access", grant, { prefix, lifetimeSeconds }),
    token_type: grant.kind,
  };
  if (!tokenRotation) return access;
  return {
    ...access,
    refresh_token: tokens.issue("refresh", grant, { prefix: "xoxe-1-" }),
    expires_in: ACCESS_SECONDS,
  };
}

function answer({ team }: SlackGrant, members: object): Response {
  return json({ ok: true, app_id: "A0SAMPLE", ...members, team, enterprise: null, is_enterprise_install: false });
}

function userId(user: string): string {
  return `U0SAMPLE${user.toUpperCase()}`;
}

/** What takes a token: to end it, whose it is, and one call that needs a scope. */
function serveApi(state: SlackState): void {
  const { tokens } = state;
  const serve = (
    path: string,
    at: "revocation" | "api",
    work: (token: HeldToken, grant: SlackGrant, members: Members) => Response,
  ): void =>
    state.serve(
      path,
      at,
      refuse,
      (c, members) => {
        const value = bearerToken(c) ?? members.get("token");
        if (value === undefined) return refuse("not_authed");
        const token = tokens.find(value);
        if (token === undefined || (at === "api" && token.kind === "refresh")) return refuse("invalid_auth");
        if (token.state === "live") return work(token, token.grant as SlackGrant, members);
        return refuse(token.state === "expired" ? "token_expired" : "token_revoked");
      },
      ["GET", "POST"],
    );
  serve("/api/auth.revoke", "revocation", ({ value }, _grant, members) => {
    const isTest = ["1", "true"].includes(members.get("test") ?? "");
    if (!isTest) tokens.end(value, "revoked");
    return json({ ok: true, revoked: !isTest });
  });
  serve("/api/chat.postMessage", "api", (_token, { scopes }, members) => {
    const [text, needed] = [members.get("text"), "chat:write"];
    if (text === undefined) return refuse("no_text");
    return scopes.includes(needed)
      ? json({ ok: true, channel: members.get("channel"), message: { text } })
      : json({ ok: false, error: "missing_scope", needed, provided: scopes.join(",") });
  });
  serve("/api/auth.test", "api", (_token, { user: id, team, scopes }) => {
    const user = ACCOUNTS.find((one) => one.id === id)?.name;
    const whose = { url: state.url, team: team.name, team_id: team.id, user, user_id: userId(id) };
    return json({ ok: true, ...whose }, 200, { "X-OAuth-Scopes": scopes.join(",") });
  });
}
