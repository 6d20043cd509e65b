/**
 * Leg 1, GET /authorize: the client's request is checked, and the user is asked. Nothing is stored, nothing leaves for the
 * vendor, and a second GET shows the same page. After it: take-decision.ts.
 */
import {
  createBindingCookie,
  createFlowId,
  formToken,
  OAuthError,
  type Parameters,
  readBindingCookie,
  setBindingCookie,
  toOAuthError,
  type VerifiedRedirect,
  verifyNativeRedirectUri,
} from "@oauth-broker/oauth-core";
import type { Answer, ClientReturn } from "@oauth-broker/oauth-core/hono";
import type { Trace } from "@oauth-broker/oauth-core/service";
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
  requireClientRedirect,
} from "../authorization-request.ts";
import type { ServerClient } from "../clients/server-client.ts";
import { fieldsOf, formOf } from "./consent-form.ts";
import { consentPage } from "./consent-page.ts";
import { refuseToClient, type ServerCallbackDeps } from "./deps.ts";

/** Of the browser, not of one flow: two tabs show two pages that both can be answered. */
export const CONSENT_COOKIE = "consent";

/** What GET shows and POST repeats. */
export interface Asked {
  readonly client: ServerClient;
  readonly redirect: VerifiedRedirect;
  readonly to: ClientReturn;
  readonly request: AuthorizationRequest | OAuthError;
}

/** @throws OAuthError for the 400 page until client and redirect URI are known; afterwards failures are redirects */
export async function askConsent(
  parameters: Parameters,
  cookieHeader: string | undefined,
  deps: ServerCallbackDeps,
  trace: Trace,
): Promise<Answer> {
  const { client, redirect, to, request } = await readAsked(parameters, deps, trace);
  if (request instanceof OAuthError) return refuseToClient(request, to, trace);
  const { deploymentUrl, vendor } = deps.settings;
  const cookie = readBindingCookie(cookieHeader, deploymentUrl, CONSENT_COOKIE) ?? createBindingCookie();
  const page = {
    client,
    redirect,
    serverHost: new URL(deploymentUrl).host,
    vendorName: vendor.vendor.name,
    scope: request.scope,
    fields: fieldsOf(parameters),
    csrf: formToken(formOf(parameters, client, request.scope), cookie),
  };
  return consentPage(page, setBindingCookie(deploymentUrl, CONSENT_COOKIE, cookie.value));
}

export async function readAsked(parameters: Parameters, deps: ServerCallbackDeps, trace: Trace): Promise<Asked> {
  const { client, redirect } = await requireClientRedirect(
    parameters,
    { ...deps, verifyRedirect: verifyNativeRedirectUri },
    trace,
  );
  const flowId = createFlowId();
  trace.flowId = flowId;
  const to = { redirect, state: parameters.get("state"), issuer: deps.settings.deploymentUrl, flowId };
  let request: Asked["request"];
  try {
    request = readAuthorizationRequest(parameters, deps.settings);
  } catch (error) {
    request = toOAuthError(error);
  }
  return { client, redirect, to, request };
}
