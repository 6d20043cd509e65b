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
import type { ServerClient } from "./client.ts";
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
    csrf: formToken(formOf(parameters, client), cookie),
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

/** All of a request that is ever read. Whatever else was sent, a `decision` too, is not part of the page. */
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
 * The form is about this very request and about what the page said of its client: what was approved for one is of no use to
 * another, nor to the same one under another name or with another way back.
 */
//= bar#AS-9
export function formOf(parameters: Parameters, { clientName, knownBy, redirectUris }: ServerClient): string {
  return JSON.stringify(["consent", fieldsOf(parameters), clientName, knownBy, redirectUris]);
}
