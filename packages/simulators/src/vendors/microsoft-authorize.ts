/**
 * Microsoft's authorization endpoint, `GET /{tenant}/oauth2/v2.0/authorize`, for `organizations`,
 * `common` and a tenant.
 *
 * Seen: parameters, plain and S256, the errors of a callback (entra-docs
 * v2-oauth2-auth-code-flow.md), that `resource` is refused (AADSTS9010010 in many threads, 901002
 * before), that prompt=consent stops users whose administrator has consented already
 * (anthropics/claude-ai-mcp #169), `access_denied` with AADSTS90094 at the callback.
 * Recalled: which mistakes end on a page, that `resource` is refused at the callback,
 * `session_state`.
 * Left out: response_mode other than query, and the page that asks an administrator for approval.
 */
import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { VendorUser } from "./base/consent.ts";
import { callbackUrl } from "./base/host.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { queryMembers, type Members } from "./base/members.ts";
import { challengeOf } from "./base/pkce.ts";
import { newGrant } from "./base/tokens.ts";
import { callbackError, textOf, type AadstsCode } from "./microsoft-errors.ts";
import { microsoftScopeText, readScopes, resourcesOf } from "./microsoft-scopes.ts";
import {
  consentKey,
  tenantAt,
  type MicrosoftClient,
  type MicrosoftParts,
  type MicrosoftTenant,
} from "./microsoft-settings.ts";

interface AuthorizationRequest {
  readonly tenant: MicrosoftTenant;
  readonly client: MicrosoftClient;
  readonly redirectUri: string;
  readonly query: Members;
}

export function serveMicrosoftAuthorize(parts: MicrosoftParts): void {
  const { host } = parts;
  host.app.get("/:tenant/oauth2/v2.0/authorize", async (c) => {
    const refused = host.takeRefusal("authorization");
    const request = await readMicrosoftRequest(parts, c, c.req.param("tenant"));
    if (request instanceof Response) return request;
    const { tenant, client, redirectUri, query } = request;
    const back = (answer: Readonly<Record<string, string>>) =>
      callbackUrl(redirectUri, { ...answer, state: query.get("state") });
    const fail = (code: AadstsCode) => back(callbackError(code, { now: host.now(), url: host.url }));
    const scopes = readScopes(query.get("scope") ?? "");
    const wrong = (refused as AadstsCode | undefined) ?? mistakeOf(request, scopes);
    if (wrong !== undefined || scopes === undefined) return c.redirect(fail(wrong ?? "AADSTS70011"), 302);
    return host.consent.ask(c, {
      app: client.name ?? client.clientId,
      permissions: scopes.map((scope) => ({ scope, text: microsoftScopeText(scope) })),
      selectAccount: query.get("prompt") === "select_account",
      isAllowedBefore: (user) => consentFor(parts, request, user) !== "ask",
      onAllow(user) {
        const consent = consentFor(parts, request, user);
        if (consent !== "ask" && consent !== "allowed") return { redirect: fail(consent) };
        if (consent === "ask") parts.consents.add(consentKey(tenant.id, user.id, client.clientId));
        return { redirect: back({ code: issueCode(parts, request, user, scopes), session_state: randomUUID() }) };
      },
      onCancel: (user) => ({ redirect: user === undefined ? back(CANCELLED) : fail("AADSTS65004") }),
    });
  });
}

const CANCELLED = { error: "access_denied", error_description: "the user canceled the authentication" };

/** @returns a page when nothing can be sent back to the app */
export async function readMicrosoftRequest(
  { host, settings }: MicrosoftParts,
  c: Context<VendorEnv>,
  path: string,
): Promise<AuthorizationRequest | Response> {
  const query = queryMembers(c);
  const tenant = tenantAt(settings, path);
  const client = host.clients.find(query.get("client_id"));
  const redirectUri = query.get("redirect_uri") ?? "";
  const refuse = (code: AadstsCode) => host.consent.refuse(c, textOf(code), code);
  if (tenant === undefined) return refuse("AADSTS90002");
  if (client === undefined) return refuse("AADSTS700016");
  if (client.isMultitenant === false && tenant.id !== path) return refuse("AADSTS50194");
  return client.redirectUris.includes(redirectUri) ? { tenant, client, redirectUri, query } : refuse("AADSTS50011");
}

function mistakeOf({ tenant, query }: AuthorizationRequest, scopes: readonly string[] | undefined) {
  const isComplete = query.get("response_type") === "code" && query.get("scope") !== undefined;
  const method = query.get("code_challenge_method") ?? "plain";
  if (!isComplete || !["S256", "plain"].includes(method)) return "AADSTS900144";
  const resource = query.get("resource");
  if (resource !== undefined) return resourceMistake(scopes ?? []);
  if (query.get("prompt") === "none") return "AADSTS50058";
  if (scopes !== undefined && !tenant.hasTools && resourcesOf(scopes).length > 0) return "AADSTS500011";
  return undefined;
}

/** The response to `resource`, at both endpoints. */
export function resourceMistake(scopes: readonly string[]): AadstsCode {
  return resourcesOf(scopes).length > 0 ? "AADSTS9010010" : "AADSTS901002";
}

/** Whether this user is admitted: without a question, by a consent page, or not. */
function consentFor(
  { consents }: MicrosoftParts,
  { tenant, client, query }: AuthorizationRequest,
  user: VendorUser,
): "allowed" | "ask" | AadstsCode {
  if (tenant.unassigned.includes(user.id)) return "AADSTS50105";
  const isAllowed = tenant.adminConsent || consents.has(consentKey(tenant.id, user.id, client.clientId));
  if (isAllowed && query.get("prompt") !== "consent") return "allowed";
  if (tenant.usersMayConsent || user.id === "operator") return "ask";
  return tenant.isAppRisky ? "AADSTS900941" : "AADSTS90094";
}

function issueCode(
  { settings, codes }: MicrosoftParts,
  { tenant, client, redirectUri, query }: AuthorizationRequest,
  user: VendorUser,
  scopes: readonly string[],
): string {
  const mfa = settings.mfaRequired || query.get("claims") !== undefined;
  return codes.issue({
    grant: { ...newGrant({ user: user.id, clientId: client.clientId, scopes }), tenantId: tenant.id, mfa },
    redirectUri,
    challenge: challengeOf(query),
    nonce: query.get("nonce"),
  });
}
