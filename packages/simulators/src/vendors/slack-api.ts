/**
 * Slack's calls that take a token: end it, whose it is, and one that needs a scope.
 *
 * Seen (https://docs.slack.dev/reference/methods/auth.revoke and
 * https://api.slack.com/methods/auth.revoke, read 2026-11-21): Bearer or a `token` member, `test=1`
 * changes nothing, `{ok, revoked}`, invalid_auth, not_authed; it ends that one token.
 * Seen (https://devopsaitoolkit.com/blog/slack-error-token-revoked): token_revoked and
 * token_expired differ from invalid_auth.
 * Seen (https://github.com/elementary-data/elementary/pull/705 and
 * https://devopsaitoolkit.com/blog/slack-error-missing-scope/, read 2026-11-22): missing_scope with
 * `needed` and `provided`, comma-separated.
 * Recalled: account_inactive, apps.uninstall, auth.test, the scopes in the header X-OAuth-Scopes,
 * the members of chat.postMessage.
 * Assumed: a refresh token can be given to auth.revoke as well.
 */
import type { Context } from "hono";
import { ACCOUNTS } from "../vendor-pages.ts";
import { bearerToken, isSecretOf } from "./base/clients.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { json, queryMembers, readMembers, type Members } from "./base/members.ts";
import type { HeldToken } from "./base/tokens.ts";
import { slackError, slackUserId } from "./slack-tokens.ts";
import { SLACK_TEAMS, type SlackState } from "./slack-state.ts";

export const SLACK_API_ERRORS = [
  "not_authed",
  "invalid_auth",
  "token_revoked",
  "token_expired",
  "account_inactive",
  "ratelimited",
];

export function serveSlackApi(state: SlackState): void {
  const { app, tokens } = state;
  app.on(["GET", "POST"], "/api/auth.revoke", (c) =>
    withToken(c, state, "revocation", (token, members) => {
      const isTest = ["1", "true"].includes(members.get("test") ?? "");
      if (!isTest) tokens.end(token.value, "revoked");
      return json({ ok: true, revoked: !isTest });
    }),
  );
  app.on(["GET", "POST"], "/api/apps.uninstall", (c) =>
    withToken(c, state, "revocation", ({ grant }, members) => {
      const client = state.clients.find(members.get("client_id"));
      if (client === undefined || client.clientId !== grant.clientId) return slackError("invalid_client_id");
      if (!isSecretOf(client, members.get("client_secret"))) return slackError("bad_client_secret");
      const team = state.sets.get(grant.id)?.team;
      tokens.endGrants(({ id, clientId }) => clientId === grant.clientId && state.sets.get(id)?.team === team);
      return json({ ok: true });
    }),
  );
  app.post("/api/chat.postMessage", (c) =>
    withToken(c, state, "api", (token, members) => {
      if (token.kind === "refresh") return slackError("invalid_auth");
      const text = members.get("text") ?? "";
      if (text === "") return slackError("no_text");
      return (
        missingScope(token, "chat:write", state) ??
        json({ ok: true, channel: members.get("channel"), message: { text } })
      );
    }),
  );
  app.on(["GET", "POST"], "/api/auth.test", (c) =>
    withToken(c, state, "api", ({ grant, kind }) => {
      if (kind === "refresh") return slackError("invalid_auth");
      const team = state.sets.get(grant.id)?.team ?? SLACK_TEAMS[0];
      const user = ACCOUNTS.find(({ id }) => id === grant.user)?.name;
      const whose = {
        ok: true,
        url: state.url,
        team: team.name,
        team_id: team.id,
        user,
        user_id: slackUserId(grant.user),
      };
      return json(whose, 200, { "X-OAuth-Scopes": grant.scopes.join(",") });
    }),
  );
}

/** @returns the refusal; undefined if the token has the scope */
function missingScope({ grant }: HeldToken, needed: string, { sets }: SlackState): Response | undefined {
  const provided = grant.scopes.filter((scope) => sets.get(grant.id)?.lost.has(scope) !== true);
  if (provided.includes(needed)) return undefined;
  return json({ ok: false, error: "missing_scope", needed, provided: provided.join(",") });
}

async function withToken(
  c: Context<VendorEnv>,
  state: SlackState,
  at: "revocation" | "api",
  work: (token: HeldToken, members: Members) => Response,
): Promise<Response> {
  const forced = state.takeRefusal(at);
  if (forced !== undefined) return slackError(forced);
  const members = c.req.method === "GET" ? queryMembers(c) : await readMembers(c);
  const value = bearerToken(c) ?? members.get("token");
  if (value === undefined) return slackError("not_authed");
  const token = state.tokens.find(value);
  if (token === undefined) return slackError("invalid_auth");
  if (token.state === "live") return work(token, members);
  return slackError(token.state === "expired" ? "token_expired" : "token_revoked");
}
