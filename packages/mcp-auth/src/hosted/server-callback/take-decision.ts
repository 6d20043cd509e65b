/**
 * Leg 2, POST /authorize: the user's answer to the consent page. Only now does a record begin, does the browser get the cookie
 * that ties it to the flow, and does it leave for the vendor. Before it: ask-consent.ts. After it: finish-callback.ts.
 */
import {
  type BindingCookie,
  createBindingCookie,
  createHandle,
  isFormToken,
  OAuthError,
  type Parameters,
  readBindingCookie,
  setBindingCookie,
  toOAuthError,
} from "@oauth-broker/oauth-core";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/hono";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { AuthorizationRequest } from "../authorization-request.ts";
import { identitySource } from "../identity-source.ts";
import { vendorSecrets } from "../vendor-secrets.ts";
import { type Asked, CONSENT_COOKIE, readAsked } from "./ask-consent.ts";
import { asData, authorizationKey, STARTED_SECONDS } from "./authorization-record.ts";
import { formOf } from "./consent-form.ts";
import { refusePage, refuseToClient, type ServerCallbackDeps } from "./deps.ts";

/** @throws OAuthError for the 400 page until the request is known to be the one that was shown to this browser */
export async function takeDecision(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: ServerCallbackDeps,
  trace: Trace,
): Promise<Answer> {
  const asked = await readAsked(parameters, deps, trace); //              1  everything again: the form is the browser's
  const request = requireShownHere(parameters, cookieHeader, asked, deps, trace); // 2  this page, in this browser
  try {
    requireApproval(parameters); //                                       3  else the client hears of it
    return await leave(asked, request, deps); //                          4  the record, the cookie, the vendor
  } catch (error) {
    return refuseToClient(toOAuthError(error), asked.to, trace);
  }
}

/** A request that is wrong was shown to nobody. */
//= bar#AS-7
function requireShownHere(
  parameters: Parameters,
  cookieHeader: string | undefined,
  { client, request }: Asked,
  { settings: { deploymentUrl } }: ServerCallbackDeps,
  trace: Trace,
): AuthorizationRequest {
  const cookie = readBindingCookie(cookieHeader, deploymentUrl, CONSENT_COOKIE);
  if (cookie === undefined || request instanceof OAuthError) throw refusePage(trace, "csrf");
  const form = formOf(parameters, client, request.scope);
  if (!isFormToken(parameters.get("csrf"), form, cookie)) throw refusePage(trace, "csrf");
  return request;
}

function requireApproval(parameters: Parameters): void {
  switch (parameters.require("decision")) {
    case "approve":
      return;
    case "deny":
      throw new OAuthError("access_denied", "The user said no");
    default:
      throw new OAuthError("invalid_request", "decision must be approve or deny");
  }
}

//= bar#AS-8
async function leave(
  { client, redirect, to }: Asked,
  request: AuthorizationRequest,
  deps: ServerCallbackDeps,
): Promise<Answer> {
  const { vendorClient, settings, records, now, callback } = deps;
  const { flowId } = to;
  const vendor = await vendorClient.resolve(settings.vendor.vendor);
  const { codeChallenge, nonce } = await vendorSecrets(flowId, vendor, deps);
  const cookie: BindingCookie = createBindingCookie();
  const state = createHandle(flowId);
  await records.create({
    key: authorizationKey(flowId),
    stage: "started",
    data: asData({
      v: 2,
      clientId: client.clientId,
      ...identitySource(settings),
      redirectUri: redirect.uri,
      codeChallenge: request.codeChallenge,
      scope: request.scope,
      ...(to.state === undefined ? {} : { state: to.state }),
      stateHash: state.hash,
      cookieHash: cookie.hash,
    }),
    expiresAt: now() + STARTED_SECONDS,
  });
  const url = vendorClient.authorizationUrl(vendor, {
    clientId: settings.vendor.credentials.clientId,
    redirectUri: callback.redirectUri,
    state: state.value,
    scope: request.scope,
    ...(codeChallenge === undefined ? {} : { codeChallenge }),
    ...(nonce === undefined ? {} : { nonce }),
  });
  return redirectAnswer(url, setBindingCookie(settings.deploymentUrl, flowId, cookie.value));
}
