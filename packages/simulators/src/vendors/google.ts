/**
 * A practice Google for the Workspace MCP servers, on one loopback origin instead of Google's
 * several hosts: authorization, tokens and revocation. Users are in google-identity.ts, the MCP
 * servers and scopes in google-products.ts.
 *
 * As the vendor was seen to answer in 2026-11.
 * Seen: access_type, prompt, include_granted_scopes, S256, granted scopes may be fewer, a refresh
 * token only with offline and a consent page, the 403 page for users who are not test users; form
 * body, secret in the body or Basic, expires_in 3599, no rotation and no refresh_token in a refresh
 * answer, the body of `invalid_rapt`, revocation without client authentication that ends the whole
 * grant and answers 400 `invalid_token` "Token expired or revoked" for a token that is gone (public
 * code); refresh tokens end unused after six months, or after seven days in testing.
 * Recalled: which mistakes end on a page (a wrong client, redirect URI or scope does), and `scope`,
 * `authuser` and `prompt` on the callback; the texts and statuses of the other refusals,
 * `refresh_token_expires_in`, an ID token with each refresh; a hundred refresh tokens per account
 * and app.
 */
import type { Context } from "hono";
import { html } from "hono/html";
import { type AccountId, noticePage } from "../pages.ts";
import { isSecretOf, readCredentials } from "./base/clients.ts";
import { challengeOf, createCodes, type Bound, type CodeMistake, type Codes } from "./base/codes.ts";
import type { ConsentOutcome } from "./base/consent.ts";
import { startVendorHost, wayBack, type VendorHost } from "./base/host.ts";
import { json, queryMembers, type Members } from "./base/members.ts";
import type { SimulatedClient, SimulatorOptions, VendorEnv } from "./base/simulator.ts";
import { newGrant, type Grant } from "./base/tokens.ts";
import { serveGoogleIdentity, type GoogleIdentity } from "./google-identity.ts";
import {
  API_ERRORS,
  googleScopeText,
  IDENTITY_SCOPES,
  isGmailScope,
  isGoogleScope,
  serveGoogleProducts,
} from "./google-products.ts";

export type GoogleSimulator = Awaited<ReturnType<typeof startGoogleWorkspace>>;

/** Read at every request; set while it runs. */
type GoogleSettings = typeof DEFAULTS;

const DEFAULTS = {
  /**
   * The project in the Developer Preview Program. Anything but `approved`: connecting works, the
   * API answers 403.
   */
  approval: "approved" as "not_requested" | "pending" | "approved" | "refused",
  /** `testing`: refresh tokens end after 7 days, and only `testUsers` get in. */
  publishing: "production" as "production" | "testing",
  testUsers: ["user", "operator"] as readonly AccountId[],
  /** Scopes the user unticks on the consent page. */
  unticked: [] as readonly string[],
  /**
   * The organization's session policy has run out: refreshing answers `invalid_grant` with
   * `error_subtype: invalid_rapt`.
   */
  reauthenticationRequired: false,
  /** Google's ID tokens carry `iss` in either form. */
  idTokenIssuer: "with scheme" as "with scheme" | "without scheme",
};

interface GoogleBound extends Bound {
  readonly nonce: string | undefined;
  /** Whether a refresh token comes: access_type=offline, and a consent page was shown. */
  readonly isOffline: boolean;
}

interface Google {
  readonly host: VendorHost<SimulatedClient>;
  readonly settings: GoogleSettings;
  readonly codes: Codes<GoogleBound>;
  readonly identity: GoogleIdentity;
  /** When a refresh token was used last, in seconds since 1970. */
  readonly usedAt: Map<string, number>;
}

const ACCESS_SECONDS = 3599;
const TESTING_SECONDS = 7 * 24 * 3600;
const UNUSED_SECONDS = 183 * 24 * 3600;
const MOST_REFRESH_TOKENS = 100;

const AUTHORIZATION_ERRORS = ["access_denied", "admin_policy_enforced", "org_internal", "disallowed_useragent"];

interface Refusal {
  readonly error: string;
  readonly text: string;
  /** Default 400. */
  readonly status?: number;
  readonly more?: Readonly<Record<string, string>>;
}

/** By the name `refuseNext("token", …)` uses. */
const TOKEN_ERRORS = {
  invalid_grant: { error: "invalid_grant", text: "Token has been expired or revoked." },
  invalid_rapt: {
    error: "invalid_grant",
    text: "reauth related error (invalid_rapt)",
    more: { error_subtype: "invalid_rapt", error_uri: "https://support.google.com/a/answer/9368756" },
  },
  invalid_client: { status: 401, error: "invalid_client", text: "The provided client secret is invalid." },
  redirect_uri_mismatch: { error: "redirect_uri_mismatch", text: "Bad Request" },
  unauthorized_client: { status: 401, error: "unauthorized_client", text: "Unauthorized" },
  admin_policy_enforced: { error: "admin_policy_enforced", text: "Access blocked by the administrator." },
} satisfies Readonly<Record<string, Refusal>>;

const CODE_ERRORS: Readonly<Record<CodeMistake, Refusal>> = {
  unknown: { error: "invalid_grant", text: "Malformed auth code." },
  spent: { error: "invalid_grant", text: "Bad Request" },
  expired: { error: "invalid_grant", text: "Bad Request" },
  redirect_uri: TOKEN_ERRORS.redirect_uri_mismatch,
  verifier: { error: "invalid_grant", text: "Missing or invalid code verifier." },
};

export async function startGoogleWorkspace(options: SimulatorOptions = {}) {
  const settings: GoogleSettings = { ...DEFAULTS };
  const host = await startVendorHost({ id: "google-workspace", brand: "Google Workspace" }, options);
  const { url, tokens } = host;
  const endpoints = {
    issuer: url,
    authorization_endpoint: `${url}/o/oauth2/v2/auth`,
    token_endpoint: `${url}/token`,
    revocation_endpoint: `${url}/revoke`,
    jwks_uri: `${url}/oauth2/v3/certs`,
    userinfo_endpoint: `${url}/v1/userinfo`,
  };
  const google: Google = {
    host,
    settings,
    codes: createCodes(host),
    identity: serveGoogleIdentity(host, () => settings.idTokenIssuer === "with scheme", endpoints),
    usedAt: new Map(),
  };
  host.app.get("/o/oauth2/v2/auth", (c) => authorize(c, google));
  host.serve(
    "/token",
    "token",
    (name) => refuse(TOKEN_ERRORS[name as keyof typeof TOKEN_ERRORS]),
    (c, form) => exchange(c, form, google),
  );
  const gone = () => refuse({ error: "invalid_token", text: "Token expired or revoked" });
  host.serve("/revoke", "revocation", gone, (c, form) => {
    const token = tokens.find(queryMembers(c).get("token") ?? form.get("token"));
    if (token?.state !== "live") return gone();
    host.disconnect(token.grant.user, token.grant.clientId);
    return new Response(null, { status: 200 });
  });
  serveGoogleProducts(host, () => settings.approval === "approved");
  return {
    ...host.simulator(
      { ...endpoints, introspection_endpoint: `${url}/tokeninfo` },
      {
        authorization: AUTHORIZATION_ERRORS,
        token: Object.keys(TOKEN_ERRORS),
        revocation: ["invalid_token"],
        api: Object.keys(API_ERRORS),
      },
    ),
    settings,
    /** @param product `gmail`, `drive`, `calendar`, `chat`, `people` */
    mcpServer: (product: string): string => `${url}/${product}/mcp/v1`,
    /** The user's password changes: refresh tokens with Gmail scopes end. */
    changePassword(user: string): void {
      for (const { kind, grant, value } of tokens.live()) {
        const isOfGmail = kind === "refresh" && grant.user === user && grant.scopes.some(isGmailScope);
        if (isOfGmail) tokens.end(value, "revoked");
      }
    },
  };
}

async function authorize(c: Context<VendorEnv>, { host, settings, codes }: Google): Promise<Response> {
  const { consent } = host;
  const refused = host.takeRefusal("authorization");
  const query = queryMembers(c);
  const client = host.clients.get(query.get("client_id") ?? "");
  if (client === undefined) return consent.refuse(c, "The OAuth client was not found.", "invalid_client", 401);
  const { clientId, name = clientId } = client;
  const redirectUri = query.get("redirect_uri") ?? "";
  if (!client.redirectUris.includes(redirectUri)) {
    return consent.refuse(c, "The redirect URI is not one of this app's.", "redirect_uri_mismatch");
  }
  const scopes = query.list("scope");
  if (scopes.length === 0) return consent.refuse(c, "Missing required parameter: scope", "invalid_request");
  if (!scopes.every(isGoogleScope)) return consent.refuse(c, "Some requested scopes were invalid.", "invalid_scope");
  const isKnown =
    query.get("response_type") === "code" &&
    ["online", "offline"].includes(query.get("access_type") ?? "online") &&
    ["S256", "plain"].includes(query.get("code_challenge_method") ?? "plain");
  if (!isKnown) return consent.refuse(c, "A parameter has a value that is not known.", "invalid_request");
  const back = wayBack(redirectUri, { state: query.get("state") });
  if (refused !== undefined) {
    if (refused !== "disallowed_useragent") return c.redirect(back({ error: refused }).redirect);
    return consent.refuse(c, "Access blocked by Google's policies.", refused, 403);
  }
  const isConsentAsked = query.list("prompt").includes("consent");
  return consent.ask(c, {
    app: name,
    permissions: scopes
      .filter((scope) => IDENTITY_SCOPES.has(scope))
      .map((scope) => ({ scope, text: googleScopeText(scope) })),
    questions: () => html`${scopes.filter((scope) => !IDENTITY_SCOPES.has(scope)).map(tickBox)}`,
    isAllowedBefore: ({ id }) => !isConsentAsked && scopes.every((scope) => host.allowed(id, clientId).has(scope)),
    onAllow({ id: user }, form) {
      if (settings.publishing === "testing" && !settings.testUsers.includes(user)) return notATestUser();
      const isPageShown = form.has("decision");
      const ticked = new Set(form.getAll("scope").filter((scope) => !settings.unticked.includes(scope)));
      const allowed = scopes.filter((scope) => !isPageShown || IDENTITY_SCOPES.has(scope) || ticked.has(scope));
      const before = host.allowed(user, clientId);
      for (const scope of allowed) before.add(scope);
      const granted = query.get("include_granted_scopes") === "true" ? [...before] : allowed;
      const code = codes.issue({
        grant: newGrant({ user, clientId, scopes: granted }),
        redirectUri,
        challenge: challengeOf(query),
        nonce: query.get("nonce"),
        isOffline: isPageShown && query.get("access_type") === "offline",
      });
      return back({ code, scope: granted.join(" "), authuser: "0", prompt: isPageShown ? "consent" : "none" });
    },
    onCancel: () => back({ error: "access_denied" }),
  });
}

function notATestUser(): ConsentOutcome {
  const title = "Access blocked";
  const text = "This app has not completed the verification process and can only be used by its test users.";
  return { title, page: noticePage(title, text, "access_denied"), status: 403 };
}

function tickBox(scope: string) {
  return html`<label
    ><input type="checkbox" name="scope" value="${scope}" checked />
    <span>${googleScopeText(scope)} <code class="soft">${scope}</code></span></label
  >`;
}

function exchange(c: Context<VendorEnv>, form: Members, google: Google): Response | Promise<Response> {
  const { host, codes, settings } = google;
  if (form.encoding !== "form") return refuse({ error: "invalid_request", text: "The request body must be a form." });
  const { clientId, clientSecret } = readCredentials(c, form);
  const client = host.clients.get(clientId ?? "");
  const { invalid_client: wrongClient } = TOKEN_ERRORS;
  if (client === undefined) return refuse({ ...wrongClient, text: "The OAuth client was not found." });
  if (clientSecret === undefined) return refuse({ error: "invalid_request", text: "client_secret is missing." });
  if (!isSecretOf(client, clientSecret)) return refuse(wrongClient);
  if (form.get("grant_type") === "authorization_code") {
    return codes.redeem<Response | Promise<Response>>(form, client, {
      refuse: (mistake) => refuse(CODE_ERRORS[mistake]),
      answer: ({ grant, nonce, isOffline }) => {
        if (!isOffline) return answer(grant, google, nonce);
        const lifetime = settings.publishing === "testing" ? { refresh_token_expires_in: TESTING_SECONDS - 1 } : {};
        return answer(grant, google, nonce, { refresh_token: issueRefreshToken(grant, google), ...lifetime });
      },
    });
  }
  if (form.get("grant_type") !== "refresh_token") {
    return refuse({ error: "unsupported_grant_type", text: "Invalid grant_type" });
  }
  const value = form.get("refresh_token");
  if (value === undefined)
    return refuse({ error: "invalid_request", text: "Missing required parameter: refresh_token" });
  const token = host.tokens.find(value, "refresh", client.clientId);
  const isUnused = host.now() - (google.usedAt.get(value) ?? 0) >= UNUSED_SECONDS;
  if (isUnused) host.tokens.end(value, "revoked");
  if (token?.state !== "live" || isUnused) return refuse(TOKEN_ERRORS.invalid_grant);
  google.usedAt.set(value, host.now());
  return settings.reauthenticationRequired ? refuse(TOKEN_ERRORS.invalid_rapt) : answer(token.grant, google);
}

/** The oldest of more than a hundred ends. */
function issueRefreshToken(grant: Grant, { host: { tokens, now }, settings, usedAt }: Google): string {
  const lifetimeSeconds = settings.publishing === "testing" ? TESTING_SECONDS : undefined;
  const token = tokens.issue("refresh", grant, { prefix: "1//0", lifetimeSeconds });
  usedAt.set(token, now());
  const siblings = tokens.live().filter(({ kind, grant: { user, clientId } }) => {
    return kind === "refresh" && user === grant.user && clientId === grant.clientId;
  });
  for (const { value } of siblings.slice(0, -MOST_REFRESH_TOKENS)) tokens.end(value, "revoked");
  return token;
}

async function answer(grant: Grant, { host, identity }: Google, nonce?: string, more: object = {}): Promise<Response> {
  const access = host.tokens.issue("access", grant, { prefix: "ya29.", lifetimeSeconds: ACCESS_SECONDS });
  const isOpenId = grant.scopes.includes("openid");
  return json({
    access_token: access,
    expires_in: ACCESS_SECONDS,
    scope: grant.scopes.join(" "),
    token_type: "Bearer",
    ...(isOpenId ? { id_token: await identity.idToken(grant, access, nonce) } : {}),
    ...more,
  });
}

function refuse({ status = 400, error, text, more }: Refusal): Response {
  return json({ error, error_description: text, ...more }, status);
}
