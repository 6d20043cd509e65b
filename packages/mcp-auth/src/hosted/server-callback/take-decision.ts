/**
 * Leg 2, POST /authorize: the user's answer to the consent page. Only now does a record begin, does the browser get the cookie
 * that ties it to the flow, and does it leave for the vendor. Before it: ask-consent.ts. After it: the vendor, and the callback.
 */
import {
  createBindingCookie,
  isFormToken,
  OAuthError,
  type Parameters,
  readBindingCookie,
  toOAuthError,
} from "@oauth-broker/oauth-core";
import type { Answer } from "@oauth-broker/oauth-core/hono";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { AuthorizationRequest } from "../authorization-request.ts";
import { identitySource } from "../vendor-links/identity-source.ts";
import { PATHS } from "../paths.ts";
import { type Asked, CONSENT_COOKIE, readAsked } from "./ask-consent.ts";
import { formOf } from "./consent-form.ts";
import { refusePage, refuseToClient, type ServerCallbackDeps } from "./deps.ts";
import { flowVendor, type LegDeps } from "./policy.ts";

/** @throws OAuthError for the 400 page until the request is known to be the one that was shown to this browser */
export async function takeDecision(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: LegDeps,
  trace: Trace,
): Promise<Answer> {
  const asked = await readAsked(parameters, deps, trace); //              1  everything again: the form is the browser's
  const request = requireShownHere(parameters, cookieHeader, asked, deps, trace); // 2  this page, in this browser
  try {
    requireApproval(parameters); //                                       3  else the client hears of it
    return await leave(asked, request, deps, trace); //                   4  the record, the cookie, the vendor
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
  { client, redirect, to: { flowId, state } }: Asked,
  { codeChallenge, scope }: AuthorizationRequest,
  deps: LegDeps,
  trace: Trace,
): Promise<Answer> {
  const vendor = await flowVendor(deps);
  const flow = {
    v: 3,
    purpose: "client",
    path: PATHS.callback,
    clientId: client.clientId,
    ...identitySource(deps.settings),
    redirectUri: redirect.uri,
    codeChallenge,
    scope,
    ...(state === undefined ? {} : { state }),
    issExpected: vendor.vendor.issExpected,
  } as const;
  return deps.flows.start({ flowId, flow }, vendor, createBindingCookie(), trace);
}
