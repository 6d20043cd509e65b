/**
 * Legs 1 and 2, GET and POST /authorize. GET checks the client's request and asks the user: nothing
 * is stored, nothing is sent to the vendor, and a second GET shows the same page. POST carries the
 * user's decision: only now a record is created, and the browser gets the cookie that binds it to
 * the flow and is redirected to the vendor. After it: the vendor, and the callback.
 */
import { defined, OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import {
  createBindingCookie,
  createFlowId,
  formToken,
  isFormToken,
  readBindingCookie,
  setBindingCookie,
  verifyNativeRedirectUri,
} from "@oauth-broker/oauth-core/authorization-server";
import { type Answer, type ClientReturn, errorRedirect } from "@oauth-broker/oauth-core/http";
import type { Trace } from "@oauth-broker/service/http";
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
  readDecision,
  requireClientRedirect,
} from "../authorization/request.ts";
import type { ServerClient } from "../clients/client.ts";
import { PATHS } from "../../resource/paths.ts";
import { identitySource } from "../records/identity-source.ts";
import type { LinkPolicy } from "../../settings.ts";
import { consentPage, type VendorPermissions } from "./consent-page.ts";
import { refusePage } from "../authorization/refusal.ts";
import type { LegDeps, ServerCallbackDeps } from "./policy.ts";

/** Belongs to the browser, not of one flow: two tabs show two pages that can both be answered. */
const CONSENT_COOKIE = "consent";

/** The request as GET shows it and POST repeats it. */
type ReceivedRequest = Awaited<ReturnType<typeof readRequest>>;

/**
 * @throws OAuthError for the 400 page until client and redirect URI are verified; afterwards
 *   failures are redirects
 */
export async function askConsent(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: ServerCallbackDeps,
  trace: Trace,
): Promise<Answer> {
  const { client, to, request } = await readRequest(parameters, deps, trace);
  if (request instanceof OAuthError) return errorRedirect(request, to, trace);
  const { deploymentUrl, vendor, links } = deps.settings;
  const consented = links.consentedScope(request.scope);
  const cookie = readBindingCookie(cookieHeader, deploymentUrl, CONSENT_COOKIE) ?? createBindingCookie();
  const page = {
    presentation: deps.presentation,
    client,
    redirect: to.redirect,
    serverHost: new URL(deploymentUrl).host,
    vendor: vendor.vendor.id,
    vendorName: vendor.vendor.name,
    scope: request.scope,
    ...defined({ permissions: consented && permissionsOf(consented, links) }),
    fields: fieldsOf(parameters),
    csrf: formToken(formOf(parameters, client, request.scope), cookie),
  };
  return consentPage(page, setBindingCookie(deploymentUrl, CONSENT_COOKIE, cookie.value));
}

/**
 * By vendor, in the operator's order. A vendor without scopes is part of every session; one with
 * scopes if one of them was requested.
 */
function permissionsOf(scope: readonly string[], { vendors, signIn, scopesAt }: LinkPolicy): VendorPermissions[] {
  return [...vendors].flatMap(([id, { vendor, scopes }]) => {
    const requested = scopesAt(scope, id);
    const isPart = requested.length > 0 || scopes.length === 0 || id === signIn;
    return isPart ? [{ vendor: id, vendorName: vendor.name, scope: requested, signsIn: id === signIn }] : [];
  });
}

/**
 * @throws OAuthError for the 400 page until the request is known to be the one shown to this
 *   browser
 */
export async function takeDecision(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: LegDeps,
  trace: Trace,
): Promise<Answer> {
  // 1. everything again: the form is the browser's
  const received = await readRequest(parameters, deps, trace);
  // 2. this page, in this browser
  const request = requireShownHere(parameters, cookieHeader, received, deps, trace);
  try {
    // 3. else the client gets an error
    if (readDecision(parameters) === "deny") throw new OAuthError("access_denied", "The user declined");
    // 4. the record, the cookie, the vendor
    return await startFlow(received, request, deps, trace);
  } catch (error) {
    return errorRedirect(toOAuthError(error), received.to, trace);
  }
}

/** An invalid request was never shown. */
//= bar#AS-7
function requireShownHere(
  parameters: Parameters,
  cookieHeader: string | undefined,
  { client, request }: ReceivedRequest,
  { settings: { deploymentUrl } }: ServerCallbackDeps,
  trace: Trace,
): AuthorizationRequest {
  const cookie = readBindingCookie(cookieHeader, deploymentUrl, CONSENT_COOKIE);
  if (cookie === undefined || request instanceof OAuthError) throw refusePage(trace, "csrf");
  const form = formOf(parameters, client, request.scope);
  //= bar#AS-7
  if (!isFormToken(parameters.get("csrf"), form, cookie)) throw refusePage(trace, "csrf");
  return request;
}

//= bar#AS-8
async function startFlow(
  { client, to: { redirect, flowId, state } }: ReceivedRequest,
  { codeChallenge, scope, vendorScope }: AuthorizationRequest,
  deps: LegDeps,
  trace: Trace,
): Promise<Answer> {
  const flow = {
    v: 3,
    purpose: "client",
    path: PATHS.callback,
    clientId: client.clientId,
    ...identitySource(deps.settings),
    redirectUri: redirect.uri,
    codeChallenge,
    scope: vendorScope,
    ...defined({
      state,
      sessionScope: deps.settings.links.consentedScope(scope),
      startedAtMilliseconds: deps.now.milliseconds?.(),
    }),
  } as const;
  const vendor = await deps.flows.vendorOf({ leg: "authorize", flowId, flow }, trace);
  const { issExpected } = vendor.vendor;
  return deps.flows.start({ flowId, flow: { ...flow, issExpected } }, vendor, createBindingCookie(), trace);
}

/**
 * @throws OAuthError for the 400 page until client and redirect URI are verified; any later problem
 *   is in `request`
 */
async function readRequest(parameters: Parameters, { findClient, settings }: ServerCallbackDeps, trace: Trace) {
  const { client, redirect } = await requireClientRedirect(parameters, findClient, verifyNativeRedirectUri, trace);
  const flowId = createFlowId();
  trace.flowId = flowId;
  const to: ClientReturn = { redirect, state: parameters.get("state"), issuer: settings.deploymentUrl, flowId };
  let request: AuthorizationRequest | OAuthError;
  try {
    request = readAuthorizationRequest(parameters, settings);
  } catch (error) {
    request = toOAuthError(error);
  }
  return { client, to, request };
}

/**
 * The only parameters of a request that are read. Any other, including a `decision`, is not part of
 * the page.
 */
const FIELDS = [
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "code_challenge",
  "code_challenge_method",
  "resource",
  "scope",
  "state",
] as const;

function fieldsOf(parameters: Parameters): (readonly [name: string, value: string])[] {
  return FIELDS.flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/**
 * The form token covers this very request and what the page showed: an approval for one client is
 * not valid for another, nor for the same under another name, with another redirect URI or with
 * more permissions.
 *
 * @param scope as shown: when the client names none it is the deployment's, which may change
 */
//= bar#AS-9
function formOf(
  parameters: Parameters,
  { clientName, knownBy, redirectUris }: ServerClient,
  scope: readonly string[],
): string {
  return JSON.stringify(["consent", fieldsOf(parameters), clientName, knownBy, redirectUris, scope]);
}
