/**
 * A practice Microsoft on one loopback origin: the directories of organizations, and the Agent 365
 * MCP servers. It has no revocation endpoint, and no registration of apps. Here is what a browser
 * sees: the authorization endpoint, for `organizations`, `common` and a tenant, and the visit of an
 * administrator who allows the app for everyone.
 *
 * As the vendor was seen to answer in 2026-11. What was seen and what is recalled is also in
 * microsoft-token.ts, -identity.ts, -errors.ts, -mcp.ts.
 * Seen: parameters, plain and S256, the errors of a callback (entra-docs
 * v2-oauth2-auth-code-flow.md), that `resource` is refused (AADSTS9010010 in many threads, 901002
 * before), that prompt=consent stops users whose administrator has consented already
 * (anthropics/claude-ai-mcp #169), `access_denied` with AADSTS90094 at the callback; of the v2.0 form
 * of admin consent the callback with `admin_consent=True`, `tenant`, `scope`, `state`, and of a
 * refusal `consent_required` with AADSTS65004 and `admin_consent=True` (entra-docs
 * v2-admin-consent.md).
 * Recalled: which mistakes end on a page, that `resource` is refused at the callback,
 * `session_state`; of the older form `tenant`, `admin_consent=True`, `state`, and a refusal as
 * `access_denied`; what happens to a user who is not an administrator.
 * Left out: response_mode other than query, and the page that asks an administrator for approval.
 */
import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { AccountId } from "../pages.ts";
import { challengeOf, createCodes } from "./base/codes.ts";
import { startVendorHost, wayBack } from "./base/host.ts";
import { serveIntrospection } from "./base/introspection.ts";
import { queryMembers, type Members } from "./base/members.ts";
import type { SimulatorOptions, VendorEnv } from "./base/simulator.ts";
import { newGrant } from "./base/tokens.ts";
import { createIdTokenSigner } from "./id-tokens.ts";
import { AUTHORIZATION_ERRORS, callbackError, textOf, TOKEN_ERRORS, type AadstsCode } from "./microsoft-errors.ts";
import { microsoftEndpoints, serveMicrosoftIdentity } from "./microsoft-identity.ts";
import { API_ERRORS, serveMicrosoftMcp } from "./microsoft-mcp.ts";
import { AGENT_365_TOOLS, microsoftScopeText, readScopes, resourceMistake } from "./microsoft-scopes.ts";
import {
  microsoftDefaults,
  tenantAt,
  type Microsoft,
  type MicrosoftClient,
  type MicrosoftTenant,
} from "./microsoft-settings.ts";
import { serveMicrosoftToken } from "./microsoft-token.ts";

export type MicrosoftSimulator = Awaited<ReturnType<typeof startMicrosoftAgent365>>;

export interface MicrosoftOptions extends SimulatorOptions {
  /** Default false, as Microsoft's. The sandbox has it, so that a check there has an answer. */
  readonly hasIntrospection?: boolean;
}

/** @throws Error of node:net when the port is taken */
export async function startMicrosoftAgent365(options: MicrosoftOptions = {}) {
  const settings = microsoftDefaults();
  const host = await startVendorHost<MicrosoftClient>({ id: "microsoft-agent365", brand: "Microsoft" }, options);
  const { app, url } = host;
  const microsoft: Microsoft = { host, settings, codes: createCodes(host), signer: createIdTokenSigner("microsoft") };
  serveMicrosoftIdentity(microsoft);
  app.get("/:tenant/oauth2/v2.0/authorize", (c) => authorize(c, microsoft));
  app.get("/:tenant/adminconsent", (c) => askAdministrator(c, microsoft, "v1"));
  app.get("/:tenant/v2.0/adminconsent", (c) => askAdministrator(c, microsoft, "v2.0"));
  serveMicrosoftToken(microsoft);
  serveMicrosoftMcp(microsoft);
  if (options.hasIntrospection === true) serveIntrospection(host);
  const errors = { authorization: AUTHORIZATION_ERRORS, token: TOKEN_ERRORS, api: API_ERRORS };
  return {
    ...host.simulator(microsoftEndpoints(url, "organizations"), errors),
    settings,
    /**
     * As `endpoints`, which are those of `organizations`, for another path; also for a placeholder
     * such as `{tenant}`.
     */
    endpointsOf: (tenant: string) => microsoftEndpoints(url, tenant),
    mcpServer: (environmentId: string, serverName: string): string =>
      `${url}/mcp/environments/${environmentId}/servers/${serverName}`,
    /** The password changes, or all sessions end: refreshing answers AADSTS50173. */
    revokeSessions: (user: string): void => host.tokens.endGrants((grant) => grant.user === user),
  };
}

interface AuthorizationRequest {
  readonly tenant: MicrosoftTenant;
  readonly client: MicrosoftClient;
  readonly redirectUri: string;
  readonly query: Members;
}

/** @returns a page when nothing can be sent back to the app */
async function readRequest(
  c: Context<VendorEnv>,
  { host, settings }: Microsoft,
): Promise<AuthorizationRequest | Response> {
  const query = queryMembers(c);
  const tenant = tenantAt(settings, c.req.param("tenant"));
  const client = host.clients.get(query.get("client_id") ?? "");
  const redirectUri = query.get("redirect_uri") ?? "";
  const show = (code: AadstsCode) => host.consent.refuse(c, textOf(code), code);
  if (tenant === undefined) return show("AADSTS90002");
  if (client === undefined) return show("AADSTS700016");
  return client.redirectUris.includes(redirectUri) ? { tenant, client, redirectUri, query } : show("AADSTS50011");
}

async function authorize(c: Context<VendorEnv>, microsoft: Microsoft): Promise<Response> {
  const { host, settings, codes } = microsoft;
  const refused = host.takeRefusal("authorization") as AadstsCode | undefined;
  const request = await readRequest(c, microsoft);
  if (request instanceof Response) return request;
  const { tenant, client, redirectUri, query } = request;
  const { clientId, name = clientId } = client;
  const back = wayBack(redirectUri, { state: query.get("state") });
  const fail = (code: AadstsCode) => back(callbackError(code, host));
  const scopes = readScopes(query.list("scope"));
  const wrong = refused ?? mistakeOf(request, scopes);
  if (wrong !== undefined || scopes === undefined) return c.redirect(fail(wrong ?? "AADSTS70011").redirect);
  const consentOf = (user: AccountId) => consentFor(request, user, host.allowed(user, clientId).has(tenant.id));
  return host.consent.ask(c, {
    app: name,
    permissions: scopes.map((scope) => ({ scope, text: microsoftScopeText(scope) })),
    selectAccount: query.get("prompt") === "select_account",
    isAllowedBefore: ({ id }) => consentOf(id) !== "ask",
    onAllow({ id: user }) {
      const consent = consentOf(user);
      if (consent !== "ask" && consent !== "allowed") return fail(consent);
      if (consent === "ask") host.allowed(user, clientId).add(tenant.id);
      const mfa = settings.mfaRequired || query.get("claims") !== undefined;
      const grant = { ...newGrant({ user, clientId, scopes }), tenantId: tenant.id, mfa };
      const bound = { grant, redirectUri, challenge: challengeOf(query), nonce: query.get("nonce") };
      return back({ code: codes.issue(bound), session_state: randomUUID() });
    },
    onCancel: (user) => (user === undefined ? back(CANCELLED) : fail("AADSTS65004")),
  });
}

const CANCELLED = { error: "access_denied", error_description: "the user canceled the authentication" };

function mistakeOf({ query }: AuthorizationRequest, scopes: readonly string[] = []): AadstsCode | undefined {
  const isComplete = query.get("response_type") === "code" && query.get("scope") !== undefined;
  const method = query.get("code_challenge_method") ?? "plain";
  if (!isComplete || !["S256", "plain"].includes(method)) return "AADSTS900144";
  if (query.get("resource") !== undefined) return resourceMistake(scopes);
  return query.get("prompt") === "none" ? "AADSTS50058" : undefined;
}

/** Whether this user is admitted: without a question, by a consent page, or not. */
function consentFor(
  { tenant, query }: AuthorizationRequest,
  user: AccountId,
  hasConsented: boolean,
): "allowed" | "ask" | AadstsCode {
  if ((tenant.adminConsent || hasConsented) && query.get("prompt") !== "consent") return "allowed";
  return tenant.usersMayConsent || user === "operator" ? "ask" : "AADSTS90094";
}

async function askAdministrator(
  c: Context<VendorEnv>,
  microsoft: Microsoft,
  version: "v1" | "v2.0",
): Promise<Response> {
  const { host } = microsoft;
  const request = await readRequest(c, microsoft);
  if (request instanceof Response) return request;
  const { tenant, client, redirectUri, query } = request;
  const scope = query.get("scope");
  const isNew = version === "v2.0";
  if (isNew && scope === undefined) return host.consent.refuse(c, textOf("AADSTS900144"), "AADSTS900144");
  const back = wayBack(redirectUri, { admin_consent: "True", state: query.get("state") });
  const fail = (code: AadstsCode) =>
    back({ ...callbackError(code, host), ...(isNew ? { error: "consent_required" } : {}) });
  const asked = scope?.split(" ") ?? [`${AGENT_365_TOOLS}/.default`];
  return host.consent.ask(c, {
    app: `${client.name ?? client.clientId} for everyone at ${tenant.name}`,
    permissions: asked.map((one) => ({ scope: one, text: microsoftScopeText(one) })),
    isAllowedBefore: ({ id }) => id !== "operator",
    onAllow({ id }) {
      if (id !== "operator") return fail("AADSTS90094");
      tenant.adminConsent = true;
      return back({ tenant: tenant.id, ...(isNew ? { scope } : {}) });
    },
    onCancel: () => fail("AADSTS65004"),
  });
}
