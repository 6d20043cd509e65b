/**
 * Slack as a vendor: the pair for user tokens, which its MCP server takes, and the pair that
 * installs an app with a bot.
 *
 * Seen (https://docs.slack.dev/authentication/using-token-rotation; recorded discovery A of the
 * vendor facts; https://gitlab.com/gitlab-org/gitlab/-/merge_requests/259717; read by 2026-11-21):
 * both pairs, comma scopes, an empty scope list refused on a page, `team`, S256 on the user pair,
 * resource metadata at the root only, no registration.
 * Recalled: the other pages' texts, callbacks below a registered one, a code of 10 minutes, what
 * waiting for an administrator looks like (a page, and no callback until the person starts again).
 */
import type { Context } from "hono";
import { createCodes } from "./base/codes.ts";
import type { ConsentOutcome } from "./base/consent.ts";
import { callbackUrl, startVendorHost } from "./base/host.ts";
import { json, queryMembers } from "./base/members.ts";
import { problemPage } from "./base/pages.ts";
import type { SimulatorOptions, VendorEnv, VendorSimulator } from "./base/simulator.ts";
import { serveSlackApi, SLACK_API_ERRORS } from "./slack-api.ts";
import {
  SLACK_TEAMS,
  type SlackAuthorization,
  type SlackClient,
  type SlackPair,
  type SlackState,
} from "./slack-state.ts";
import { serveSlackTokens, SLACK_TOKEN_ERRORS } from "./slack-tokens.ts";

export interface SlackSimulator extends VendorSimulator<SlackClient> {
  /**
   * The pair that installs a bot; `endpoints` has the one for user tokens. Both refresh at
   * `refresh_endpoint`.
   */
  readonly botEndpoints: Readonly<Record<string, string>>;
  /** Whether an administrator has to approve an app before it can be added; at first no. */
  requireApproval(isRequired: boolean): void;
  /** Takes a scope from every grant there is: the API refuses it until the user authorizes again. */
  loseScope(scope: string): void;
  /** The administrator approves. The user has to start again. */
  approve(clientId: string): void;
}

const CODE_LIFETIME_SECONDS = 600;

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
export async function startSlack(options: SimulatorOptions = {}): Promise<SlackSimulator> {
  const host = await startVendorHost<SlackClient>({ id: "slack", brand: "Slack" }, options);
  const state: SlackState = {
    ...host,
    codes: createCodes<SlackAuthorization>(CODE_LIFETIME_SECONDS, host),
    sets: new Map(),
  };
  const approval = { isRequired: false, approved: new Set<string>() };
  const mustWait = (clientId: string): boolean => approval.isRequired && !approval.approved.has(clientId);
  const { app, url } = host;
  app.get("/oauth/v2_user/authorize", (c) => authorize(c, state, "user", mustWait));
  app.get("/oauth/v2/authorize", (c) => authorize(c, state, "bot", mustWait));
  serveSlackTokens(state);
  serveSlackApi(state);
  serveMetadata(state);

  const shared = {
    issuer: url,
    refresh_endpoint: `${url}/api/oauth.v2.access`,
    revocation_endpoint: `${url}/api/auth.revoke`,
  };
  return {
    ...host.simulator({
      endpoints: {
        ...shared,
        authorization_endpoint: `${url}/oauth/v2_user/authorize`,
        token_endpoint: `${url}/api/oauth.v2.user.access`,
      },
      errors: {
        authorization: ["access_denied", ...Object.keys(PAGE_TEXT)],
        token: SLACK_TOKEN_ERRORS,
        revocation: SLACK_API_ERRORS,
        api: SLACK_API_ERRORS,
      },
    }),
    botEndpoints: {
      ...shared,
      authorization_endpoint: `${url}/oauth/v2/authorize`,
      token_endpoint: `${url}/api/oauth.v2.access`,
    },
    requireApproval(isRequired) {
      approval.isRequired = isRequired;
    },
    loseScope(scope) {
      for (const { lost } of state.sets.values()) lost.add(scope);
    },
    approve: (clientId) => void approval.approved.add(clientId),
  };
}

async function authorize(
  c: Context<VendorEnv>,
  state: SlackState,
  pair: SlackPair,
  mustWait: (clientId: string) => boolean,
): Promise<Response> {
  const query = queryMembers(c);
  const refuse = (error: string) => state.consent.refuse(c, PAGE_TEXT[error] ?? "", error, 200);
  const client = state.clients.find(query.get("client_id"));
  if (client === undefined) return refuse("invalid_client_id");
  const redirectUri = registeredRedirect(client, query.get("redirect_uri"));
  if (redirectUri === undefined) return refuse("bad_redirect_uri");
  const answer = { state: query.get("state") };
  const cancelled = { redirect: callbackUrl(redirectUri, { error: "access_denied", ...answer }) };
  const forced = state.takeRefusal("authorization");
  if (forced === "access_denied") return c.redirect(cancelled.redirect, 302);
  if (forced !== undefined) return refuse(forced);
  const scopes = scopeList(query.get("scope"));
  const botScopes = pair === "bot" ? scopes : [];
  const userScopes = pair === "bot" ? scopeList(query.get("user_scope")) : scopes;
  const all = [...botScopes, ...userScopes];
  if (all.length === 0) return refuse("no_scopes");
  if (!all.every((scope) => /^[a-z][a-z0-9._-]*(:[a-z0-9._-]+)*$/.test(scope))) return refuse("invalid_scope");

  const team = SLACK_TEAMS.find(({ id }) => id === query.get("team")) ?? SLACK_TEAMS[0];
  return state.consent.ask(c, {
    app: client.name ?? client.clientId,
    permissions: all.map((scope) => ({ scope, text: `${SCOPE_TEXT[scope] ?? "Use a permission"} in ${team.name}` })),
    onAllow: (user): ConsentOutcome => {
      if (mustWait(client.clientId)) return waiting(client);
      const code = state.codes.issue({
        pair,
        clientId: client.clientId,
        redirectUri,
        sentRedirect: query.get("redirect_uri") !== undefined,
        botScopes,
        userScopes,
        user,
        team,
        challenge: query.get("code_challenge"),
      });
      return { redirect: callbackUrl(redirectUri, { code, ...answer }) };
    },
    onCancel: () => cancelled,
  });
}

function waiting({ name, clientId }: SlackClient): ConsentOutcome {
  const title = "Your request was sent";
  const text = `An administrator has to approve ${name ?? clientId} first. You will hear from Slack when they have.`;
  return { title, page: problemPage(title, text) };
}

/** A registered callback, or an address below one. */
function registeredRedirect(client: SlackClient, asked: string | undefined): string | undefined {
  if (asked === undefined) return client.redirectUris[0];
  const fits = client.redirectUris.some(
    (registered) => asked === registered || asked.startsWith(`${registered.replace(/\/$/, "")}/`),
  );
  return fits && !asked.includes("/../") ? asked : undefined;
}

function scopeList(text: string | undefined): readonly string[] {
  return (text ?? "").split(",").filter((scope) => scope !== "");
}

/** As mcp.slack.com publishes them. */
function serveMetadata({ app, url }: SlackState): void {
  app.get("/.well-known/oauth-authorization-server", () =>
    json({
      issuer: url,
      authorization_endpoint: `${url}/oauth/v2_user/authorize`,
      token_endpoint: `${url}/api/oauth.v2.user.access`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["client_secret_post"],
      code_challenge_methods_supported: ["S256"],
    }),
  );
  app.get("/.well-known/oauth-protected-resource", () =>
    json({ resource: `${url}/mcp`, authorization_servers: [url], bearer_methods_supported: ["header"] }),
  );
}
