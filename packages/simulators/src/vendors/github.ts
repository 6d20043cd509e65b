/**
 * GitHub as a vendor: OAuth apps and GitHub Apps, with github.com and api.github.com on one
 * address.
 *
 * Seen (docs.github.com "Authorizing OAuth apps", "Troubleshooting authorization request errors",
 * read 2026-11-21 in the github/docs repository;
 * https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication;
 * https://github.com/orgs/community/discussions/204963): parameters, code of 10 minutes, scopes
 * that merge with earlier ones, no consent page when no scope is asked again, the three callback
 * errors and that they go to the registered callback, S256 only and optional, several redirect URIs
 * of which each may be a wildcard.
 * Recalled: the 404 page of an unknown app; that one asked for by `plain` is refused, and how; the
 * install page.
 */
import type { Context } from "hono";
import { createCodes } from "./base/codes.ts";
import type { ConsentOutcome, VendorUser } from "./base/consent.ts";
import { callbackUrl, startVendorHost } from "./base/host.ts";
import { json, queryMembers, type Members } from "./base/members.ts";
import type { SimulatorOptions, VendorEnv, VendorSimulator } from "./base/simulator.ts";
import { serveGitHubApi } from "./github-api.ts";
import type { GitHubAuthorization, GitHubClient, GitHubState } from "./github-state.ts";
import { GITHUB_TOKEN_ERRORS, serveGitHubTokens } from "./github-tokens.ts";
import { registeredRedirect } from "./github-redirects.ts";

export interface GitHubSimulator extends VendorSimulator<GitHubClient> {
  /** Whether this user's primary e-mail address is verified, which it is at first. */
  setEmailVerified(user: string, isVerified: boolean): void;
  /** Where a GitHub App is installed from GitHub's side; the callback then has no `state`. */
  installUrl(clientId: string): string;
}

const CODE_LIFETIME_SECONDS = 600;

const CALLBACK_ERRORS: Readonly<Record<string, string>> = {
  access_denied: "The user has denied your application access.",
  application_suspended: "Your application has been suspended. Contact support@github.com.",
  redirect_uri_mismatch: "The redirect_uri MUST match the registered callback URL for this application.",
};

const SCOPE_TEXT: Readonly<Record<string, string>> = {
  repo: "Full control of your repositories",
  "read:org": "Read your organizations and teams",
  "read:user": "Read your profile",
  user: "Read and change your profile",
  "user:email": "Read your e-mail addresses",
  workflow: "Change your workflow files",
  offline_access: "Stay connected while you are away",
};

/** @throws Error of node:net when the port is taken */
export async function startGitHub(options: SimulatorOptions = {}): Promise<GitHubSimulator> {
  const host = await startVendorHost<GitHubClient>({ id: "github", brand: "GitHub" }, options);
  const granted = new Map<string, Set<string>>();
  const state: GitHubState = {
    ...host,
    codes: createCodes<GitHubAuthorization>(CODE_LIFETIME_SECONDS, host),
    unverified: new Set(),
    granted(user, clientId) {
      const key = `${user} ${clientId}`;
      const scopes = granted.get(key) ?? new Set();
      granted.set(key, scopes);
      return scopes;
    },
  };
  const { app, url } = host;
  app.get("/login/oauth/authorize", (c) => authorize(c, state));
  app.get("/apps/:clientId/installations/new", (c) => install(c, state));
  serveGitHubTokens(state);
  serveGitHubApi(state);
  serveMetadata(state);

  return {
    ...host.simulator({
      endpoints: {
        issuer: `${url}/login/oauth`,
        authorization_endpoint: `${url}/login/oauth/authorize`,
        token_endpoint: `${url}/login/oauth/access_token`,
        revocation_endpoint: `${url}/applications/{client_id}/token`,
        userinfo_endpoint: `${url}/user`,
      },
      errors: {
        authorization: Object.keys(CALLBACK_ERRORS),
        token: GITHUB_TOKEN_ERRORS,
        revocation: ["401", "404", "422"],
        api: ["401", "403"],
      },
    }),
    setEmailVerified(user, isVerified) {
      if (isVerified) state.unverified.delete(user);
      else state.unverified.add(user);
    },
    installUrl: (clientId) => `${url}/apps/${encodeURIComponent(clientId)}/installations/new`,
  };
}

async function authorize(c: Context<VendorEnv>, state: GitHubState): Promise<Response> {
  const query = queryMembers(c);
  const client = state.clients.find(query.get("client_id"));
  if (client === undefined) return state.consent.refuse(c, "There is no such app.", "404", 404);
  const [registered = ""] = client.redirectUris;
  const answer = { state: query.get("state") };
  const fail = (error: string, at = registered): ConsentOutcome => ({
    redirect: callbackUrl(at, {
      error,
      error_description: CALLBACK_ERRORS[error],
      error_uri: errorUri(error),
      ...answer,
    }),
  });
  const redirectUri = registeredRedirect(client, query.get("redirect_uri"));
  const forced = state.takeRefusal("authorization");
  if (forced !== undefined) return redirectTo(c, fail(forced));
  if (redirectUri === undefined) return redirectTo(c, fail("redirect_uri_mismatch"));
  const challenge = query.get("code_challenge");
  if (challenge !== undefined && query.get("code_challenge_method") !== "S256") {
    return redirectTo(c, fail("invalid_request", redirectUri));
  }
  const asked = scopesOf(client, query);
  return state.consent.ask(c, {
    app: client.name ?? client.clientId,
    permissions: asked.map((scope) => ({ scope, text: SCOPE_TEXT[scope] ?? "" })),
    selectAccount: query.get("prompt") === "select_account",
    isAllowedBefore: (user) => asked.length === 0 && state.granted(user.id, client.clientId).size > 0,
    onAllow: (user) => {
      const scopes = mergedScopes(state, client, user, asked);
      const code = state.codes.issue({ clientId: client.clientId, redirectUri, scopes, user, challenge });
      return { redirect: callbackUrl(redirectUri, { code, ...answer }) };
    },
    onCancel: () => fail("access_denied", redirectUri),
  });
}

/**
 * From the marketplace or the app's public page: no client started the flow, so the callback has a
 * code but no state.
 */
function install(c: Context<VendorEnv>, state: GitHubState): Promise<Response> {
  const client = state.clients.find(c.req.param("clientId"));
  const [redirectUri = ""] = client?.redirectUris ?? [];
  if (client === undefined) return state.consent.refuse(c, "There is no such app.", "404", 404);
  return state.consent.ask(c, {
    app: client.name ?? client.clientId,
    permissions: [{ scope: "installation", text: "Be installed on your account" }],
    onAllow: (user) => {
      const bound = { clientId: client.clientId, redirectUri, scopes: [], user, challenge: undefined };
      const code = state.codes.issue(bound);
      return { redirect: callbackUrl(redirectUri, { code, installation_id: "1", setup_action: "install" }) };
    },
    onCancel: () => ({ redirect: `${state.url}/` }),
  });
}

function scopesOf(client: GitHubClient, query: Members): readonly string[] {
  if (client.kind === "github-app") return [];
  return (query.get("scope") ?? "").split(/[\s,]+/).filter((scope) => scope !== "");
}

function mergedScopes(
  state: GitHubState,
  client: GitHubClient,
  user: VendorUser,
  asked: readonly string[],
): readonly string[] {
  const before = state.granted(user.id, client.clientId);
  for (const scope of asked) before.add(scope);
  return [...before];
}

function redirectTo(c: Context<VendorEnv>, outcome: ConsentOutcome): Response {
  return c.redirect("redirect" in outcome ? outcome.redirect : "/", 302);
}

function errorUri(error: string): string {
  return `/apps/managing-oauth-apps/troubleshooting-authorization-request-errors/#${error.replaceAll("_", "-")}`;
}

/** Issuer with a path: the well-known address is inserted before it. No registration endpoint. */
function serveMetadata({ app, url }: GitHubState): void {
  app.get("/.well-known/oauth-authorization-server/login/oauth", () =>
    json({
      issuer: `${url}/login/oauth`,
      authorization_endpoint: `${url}/login/oauth/authorize`,
      token_endpoint: `${url}/login/oauth/access_token`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
    }),
  );
  app.get("/.well-known/oauth-protected-resource/mcp", () =>
    json({
      resource: `${url}/mcp/`,
      authorization_servers: [`${url}/login/oauth`],
      bearer_methods_supported: ["header"],
    }),
  );
}
