/**
 * GitHub as a vendor: OAuth apps and GitHub Apps, with github.com and api.github.com on one
 * address. Every error of the token endpoint is HTTP 200; the answer is a form unless JSON is asked
 * for. Its API is in github-api.ts.
 *
 * Seen (docs.github.com "Authorizing OAuth apps", "Troubleshooting authorization request errors",
 * "Troubleshooting OAuth app access token request errors", "Refreshing user access tokens", read
 * 2026-11-21 in the github/docs repository;
 * https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication;
 * https://github.com/orgs/community/discussions/204963): parameters, code of 10 minutes, scopes
 * that merge with earlier ones, no consent page when no scope is asked again, the three callback
 * errors and that they go to the registered callback, S256 only and optional; form by default,
 * comma scopes, `bearer`, the errors of tokens and their texts, 8 hours and 6 months, a refresh ends
 * the old refresh token and the old access token at once; several callbacks, left out means the
 * registered one, a loopback callback fits any port.
 * Seen (https://www.nango.dev/blog/github-app-oauth-refresh-token-bad-refresh-token):
 * bad_refresh_token and its text; that page says it comes with 400, older recollection says 200,
 * which is what this does.
 * Recalled: the 404 page of an unknown app; that one asked for by `plain` is refused, and how; the
 * install page; token prefixes, refresh_token_expires_in, Basic accepted.
 * Assumed: a wrong verifier is bad_verification_code.
 * Left out: wildcards per callback; who has no verified e-mail address.
 */
import type { Context } from "hono";
import { authenticate, LOOPBACK_HOSTS } from "./base/clients.ts";
import { challengeOf, createCodes, type Bound, type Codes } from "./base/codes.ts";
import { startVendorHost, wayBack, type VendorHost } from "./base/host.ts";
import { json, queryMembers, type Members } from "./base/members.ts";
import type { SimulatedClient, SimulatorOptions, VendorEnv } from "./base/simulator.ts";
import { newGrant, type Grant } from "./base/tokens.ts";
import { serveGitHubApi } from "./github-api.ts";

export interface GitHubClient extends SimulatedClient {
  /**
   * Default `oauth-app`. A `github-app` ignores scopes and its tokens expire unless
   * `expiringTokens` is false.
   */
  readonly kind?: "oauth-app" | "github-app";
  /** Access tokens live 8 hours and come with a refresh token. Default: as the kind. */
  readonly expiringTokens?: boolean;
}

export type GitHubSimulator = Awaited<ReturnType<typeof startGitHub>>;

type Host = VendorHost<GitHubClient>;

const ACCESS_SECONDS = 8 * 3600;
/** 184 days. */
const REFRESH_SECONDS = 184 * 24 * 3600;

const CALLBACK_ERRORS: Readonly<Record<string, string>> = {
  access_denied: "The user has denied your application access.",
  application_suspended: "Your application has been suspended. Contact support@github.com.",
  redirect_uri_mismatch: "The redirect_uri MUST match the registered callback URL for this application.",
};

const TOKEN_ERRORS: Readonly<Record<string, string>> = {
  incorrect_client_credentials: "The client_id and/or client_secret passed are incorrect.",
  redirect_uri_mismatch: "The redirect_uri MUST match the registered callback URL for this application.",
  bad_verification_code: "The code passed is incorrect or expired.",
  unverified_user_email: "The user must have a verified primary email.",
  bad_refresh_token: "The refresh token passed is incorrect or expired.",
  unsupported_grant_type: "The grant type must be authorization_code or refresh_token.",
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
export async function startGitHub(options: SimulatorOptions = {}) {
  const host = await startVendorHost<GitHubClient>({ id: "github", brand: "GitHub" }, options);
  const { app, url } = host;
  const codes = createCodes<Bound>(host, ({ redirectUri }, sent = redirectUri) => sent === redirectUri);
  app.get("/login/oauth/authorize", (c) => authorize(c, host, codes));
  app.get("/apps/:clientId/installations/new", (c) => install(c, host, codes));
  host.serve(
    "/login/oauth/access_token",
    "token",
    (error, c) => encoded(c, tokenError(error)),
    (c, members) => encoded(c, exchange(c, members, host, codes)),
  );
  serveGitHubApi(host);
  const endpoints = {
    issuer: `${url}/login/oauth`,
    authorization_endpoint: `${url}/login/oauth/authorize`,
    token_endpoint: `${url}/login/oauth/access_token`,
  };
  const supported = { response_types_supported: ["code"], code_challenge_methods_supported: ["S256"] };
  const grants = { grant_types_supported: ["authorization_code", "refresh_token"] };
  // Issuer with a path: the well-known address is inserted before it. No registration endpoint.
  app.get("/.well-known/oauth-authorization-server/login/oauth", () => json({ ...endpoints, ...supported, ...grants }));
  const servers = { authorization_servers: [endpoints.issuer], bearer_methods_supported: ["header"] };
  app.get("/.well-known/oauth-protected-resource/mcp", () => json({ resource: `${url}/mcp/`, ...servers }));
  const ofToken = `${url}/applications/{client_id}/token`;
  const own = { revocation_endpoint: ofToken, introspection_endpoint: ofToken, userinfo_endpoint: `${url}/user` };
  return {
    ...host.simulator(
      { ...endpoints, ...own },
      {
        authorization: Object.keys(CALLBACK_ERRORS),
        token: Object.keys(TOKEN_ERRORS),
        revocation: ["401", "404", "422"],
        api: ["401", "403"],
      },
    ),
    /** Where a GitHub App is installed from GitHub's side; the callback then has no `state`. */
    installUrl: (clientId: string): string => `${url}/apps/${encodeURIComponent(clientId)}/installations/new`,
  };
}

async function authorize(c: Context<VendorEnv>, host: Host, codes: Codes<Bound>): Promise<Response> {
  const query = queryMembers(c);
  const client = host.clients.get(query.get("client_id") ?? "");
  if (client === undefined) return host.consent.refuse(c, "There is no such app.", "404", 404);
  const { clientId, redirectUris } = client;
  const [registered = ""] = redirectUris;
  const backTo = (at: string) => wayBack(at, { state: query.get("state") });
  const fail = (error: string, at = registered) =>
    backTo(at)({ error, error_description: CALLBACK_ERRORS[error], error_uri: pageOf("authorization", error) });
  const redirectUri = registeredRedirect(client, query.get("redirect_uri"));
  const forced = host.takeRefusal("authorization");
  if (forced !== undefined) return c.redirect(fail(forced).redirect);
  if (redirectUri === undefined) return c.redirect(fail("redirect_uri_mismatch").redirect);
  const challenge = challengeOf(query);
  if (challenge?.method === "plain") return c.redirect(fail("invalid_request", redirectUri).redirect);
  const asked = client.kind === "github-app" ? [] : query.list("scope", /[\s,]+/);
  return host.consent.ask(c, {
    app: client.name ?? clientId,
    permissions: asked.map((scope) => ({ scope, text: SCOPE_TEXT[scope] ?? "" })),
    selectAccount: query.get("prompt") === "select_account",
    isAllowedBefore: ({ id }) => asked.length === 0 && host.allowed(id, clientId).size > 0,
    onAllow: ({ id: user }) => {
      const allowed = host.allowed(user, clientId);
      for (const scope of asked) allowed.add(scope);
      const code = codes.issue({ grant: newGrant({ user, clientId, scopes: [...allowed] }), redirectUri, challenge });
      return backTo(redirectUri)({ code });
    },
    onCancel: () => fail("access_denied", redirectUri),
  });
}

/**
 * From the marketplace or the app's public page: no client started the flow, so the callback has a
 * code but no state.
 */
function install(c: Context<VendorEnv>, host: Host, codes: Codes<Bound>): Promise<Response> {
  const client = host.clients.get(c.req.param("clientId") ?? "");
  if (client === undefined) return host.consent.refuse(c, "There is no such app.", "404", 404);
  const { clientId, redirectUris } = client;
  const [redirectUri = ""] = redirectUris;
  return host.consent.ask(c, {
    app: client.name ?? clientId,
    permissions: [{ scope: "installation", text: "Be installed on your account" }],
    onAllow: ({ id: user }) => {
      const code = codes.issue({ grant: newGrant({ user, clientId, scopes: [] }), redirectUri });
      return wayBack(redirectUri, { installation_id: "1", setup_action: "install" })({ code });
    },
    onCancel: () => ({ redirect: `${host.url}/` }),
  });
}

type Answer = Readonly<Record<string, string | number>>;

function exchange(c: Context<VendorEnv>, members: Members, { clients, tokens }: Host, codes: Codes<Bound>): Answer {
  const client = authenticate(c, members, clients);
  if (client === undefined) return tokenError("incorrect_client_credentials");
  const grantType = members.get("grant_type") ?? "authorization_code";
  if (grantType === "authorization_code") {
    return codes.redeem<Answer>(members, client, {
      refuse: (mistake) => tokenError(mistake === "redirect_uri" ? "redirect_uri_mismatch" : "bad_verification_code"),
      answer: ({ grant }) => issue(client, grant, tokens),
    });
  }
  if (grantType !== "refresh_token") return tokenError("unsupported_grant_type");
  const found = tokens.find(members.get("refresh_token"), "refresh", client.clientId);
  if (found?.state !== "live") return tokenError("bad_refresh_token");
  tokens.endGrants((grant) => grant.id === found.grant.id, "rotated");
  return issue(client, found.grant, tokens);
}

function issue(client: GitHubClient, grant: Grant, tokens: Host["tokens"]): Answer {
  const isApp = client.kind === "github-app";
  const expires = client.expiringTokens ?? (isApp || grant.scopes.includes("offline_access"));
  const about = { prefix: isApp ? "ghu_" : "gho_", lifetimeSeconds: expires ? ACCESS_SECONDS : undefined };
  const access = { access_token: tokens.issue("access", grant, about) };
  const scope = grant.scopes.filter((one) => one !== "offline_access").join(",");
  if (!expires) return { ...access, token_type: "bearer", scope };
  return {
    ...access,
    expires_in: ACCESS_SECONDS,
    refresh_token: tokens.issue("refresh", grant, { prefix: "ghr_", lifetimeSeconds: REFRESH_SECONDS }),
    refresh_token_expires_in: REFRESH_SECONDS,
    token_type: "bearer",
    scope,
  };
}

function tokenError(error: string): Answer {
  return { error, error_description: TOKEN_ERRORS[error] ?? "", error_uri: pageOf("oauth-app-access-token", error) };
}

function pageOf(request: string, error: string): string {
  const page = `/apps/managing-oauth-apps/troubleshooting-${request}-request-errors`;
  return `${page}/#${error.replaceAll("_", "-")}`;
}

function encoded(c: Context<VendorEnv>, answer: Answer): Response {
  if (c.req.header("Accept")?.includes("application/json") === true) return json(answer);
  const form = new URLSearchParams(Object.entries(answer).map(([name, value]) => [name, String(value)]));
  return c.body(form.toString(), 200, {
    "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
    "Cache-Control": "no-store",
  });
}

/** @returns the URL to send the browser to; undefined when it is not one of the app's */
function registeredRedirect({ redirectUris }: GitHubClient, asked: string | undefined): string | undefined {
  if (asked === undefined) return redirectUris[0];
  if (redirectUris.includes(asked)) return asked;
  if (!URL.canParse(asked)) return undefined;
  const isWithOtherPort = redirectUris.some((registered) => {
    const { href, protocol, hostname, port } = new URL(registered);
    const isHere = protocol === "http:" && LOOPBACK_HOSTS.has(hostname);
    return isHere && href === Object.assign(new URL(asked), { port }).href;
  });
  return isWithOtherPort ? asked : undefined;
}
