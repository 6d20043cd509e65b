/**
 * GET /authorize with the platform's callback: the browser goes on to the vendor, with the
 * platform's redirect URI and state as they came. Nothing is stored, but of a narrower request its
 * scope. After it the vendor answers the platform, which posts the code to /token
 * (redeem-vendor-code.ts).
 */
import { defined, errorMembers, type OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import {
  type Parameters,
  redirectUrl,
  type VerifiedRedirect,
  verifyRedirectUri,
} from "@oauth-broker/oauth-core/protocol";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import type { Trace } from "@oauth-broker/oauth-core/service";
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
  requireClientRedirect,
} from "../authorization-request.ts";
import type { FindClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import { recordNarrowRequest } from "./narrow-request.ts";
import { vendorSecrets } from "../vendor-secrets.ts";

export interface AuthorizeDeps extends Pick<HostedDeps, "settings" | "serverKey" | "vendorClient" | "records" | "now"> {
  readonly findClient: FindClient;
}

/**
 * @throws OAuthError for the 400 page while client and redirect URI are not verified: the browser
 *   is not redirected
 */
export async function authorize(parameters: Parameters, deps: AuthorizeDeps, trace: Trace): Promise<Answer> {
  const { redirect } = await requireClientRedirect(parameters, { ...deps, verifyRedirect: verifyRedirectUri }, trace); // 1  who asks, where to
  try {
    const request = readAuthorizationRequest(parameters, deps.settings); //                2  code flow, PKCE #1, resource, scope
    return await redirectToVendor(redirect, request, parameters, deps); //                         3  PKCE #2 derived, state verbatim
  } catch (thrown) {
    return refusal(toOAuthError(thrown), redirect, parameters, trace);
  }
}

async function redirectToVendor(
  redirect: VerifiedRedirect,
  { codeChallenge: clientChallenge, scope }: AuthorizationRequest,
  parameters: Parameters,
  deps: AuthorizeDeps,
): Promise<Answer> {
  const { vendorClient, settings } = deps;
  const vendor = await vendorClient.resolve(settings.vendor.vendor);
  const { codeChallenge, nonce } = await vendorSecrets(clientChallenge, vendor, deps);
  await recordNarrowRequest(clientChallenge, scope, deps);
  return redirectAnswer(
    vendorClient.authorizationUrl(vendor, {
      clientId: settings.vendor.credentials.clientId,
      redirectUri: redirect.uri,
      state: parameters.get("state") ?? "",
      scope,
      ...defined({ codeChallenge, nonce }),
    }),
  );
}

/**
 * Without `iss`: what comes back to this redirect URI is as a rule the vendor's, so we do not
 * advertise one (rfc9207#2.4).
 */
//= rfc6749#4.1.2.1
function refusal(error: OAuthError, redirect: VerifiedRedirect, parameters: Parameters, trace: Trace): Answer {
  trace.failure = error;
  return redirectAnswer(redirectUrl(redirect, { ...errorMembers(error), state: parameters.get("state") }));
}
