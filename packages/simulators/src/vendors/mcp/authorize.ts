/**
 * The authorization endpoint of an MCP authorization server. A request whose client or callback is
 * not known ends on a page; everything else goes back to the client with the registered error, and
 * with `iss` if the server says so.
 */
import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { callbackUrl } from "../base/host.ts";
import type { VendorEnv } from "../base/simulator.ts";
import { queryMembers, type Members } from "../base/members.ts";
import type { Challenge } from "../base/pkce.ts";
import { readClientDocument } from "./client-documents.ts";
import type { McpClient, McpState } from "./rules.ts";

export function serveAuthorize(state: McpState): void {
  state.app.get("/authorize", (c) => authorize(c, state));
}

async function authorize(c: Context<VendorEnv>, state: McpState): Promise<Response> {
  const query = queryMembers(c);
  const client = await findClient(state, query.get("client_id"));
  if (client === undefined) return state.consent.refuse(c, "There is no such client.", "invalid_client");
  const redirectUri = query.get("redirect_uri");
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
    return state.consent.refuse(c, "The callback is not one of this client.", "invalid_redirect_uri");
  }
  const { rules, url } = state;
  const always = { state: query.get("state"), ...(rules.sendsIssuer ? { iss: url } : {}) };
  const fail = (error: string) => ({ redirect: callbackUrl(redirectUri, { error, ...always }) });
  const challenge = challengeOf(query);
  const scopes = scopesOf(query, state);
  const error = state.takeRefusal("authorization") ?? errorOf(query, challenge, scopes, state);
  if (error !== undefined || challenge === undefined) return c.redirect(fail(error ?? "invalid_request").redirect, 302);

  return state.consent.ask(c, {
    app: client.name ?? client.clientId,
    permissions: rules.scopes.filter(({ scope }) => scopes.includes(scope)),
    onAllow: (user) => {
      const bound = { clientId: client.clientId, redirectUri, scopes, user, challenge, grantId: randomUUID() };
      return { redirect: callbackUrl(redirectUri, { code: state.codes.issue(bound), ...always }) };
    },
    onCancel: () => fail("access_denied"),
  });
}

function findClient(
  state: McpState,
  clientId: string | undefined,
): McpClient | Promise<McpClient | undefined> | undefined {
  return state.clients.find(clientId) ?? readClientDocument(state, clientId ?? "");
}

function errorOf(
  query: Members,
  challenge: Challenge | undefined,
  scopes: readonly string[],
  { rules, url }: McpState,
): string | undefined {
  if (query.get("response_type") !== "code") return "unsupported_response_type";
  if (challenge === undefined || !rules.challengeMethods.includes(challenge.method)) return "invalid_request";
  const offered = rules.scopes.map(({ scope }) => scope);
  if (!scopes.every((scope) => offered.includes(scope))) return "invalid_scope";
  const resource = query.get("resource");
  if (resource === undefined) return undefined;
  // A URL without a path equals the same with a slash.
  const resources = Object.values(rules.resources).map(({ path }) => new URL(url + path).href);
  const isServed = URL.canParse(resource) && resources.includes(new URL(resource).href);
  return isServed ? undefined : "invalid_target";
}

/** Left out, the method is plain (RFC 7636 4.3). */
function challengeOf(query: Members): Challenge | undefined {
  const challenge = query.get("code_challenge");
  const method = query.get("code_challenge_method") ?? "plain";
  if (challenge === undefined || (method !== "S256" && method !== "plain")) return undefined;
  return { challenge, method };
}

function scopesOf(query: Members, { rules }: McpState): readonly string[] {
  const asked = (query.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
  return asked.length === 0 ? rules.scopes.map(({ scope }) => scope) : asked;
}
