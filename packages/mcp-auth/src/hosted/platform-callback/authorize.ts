/**
 * GET /authorize with the platform's callback: redirects the browser to the vendor, with the
 * platform's redirect URI and state unchanged. Nothing is stored, except the scope of a narrower
 * request. After it the vendor redirects to the platform, which posts the code to /token
 * (redeem-vendor-code.ts).
 */
import { defined, type OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import { errorMembers, type Parameters } from "@oauth-broker/oauth-core/protocol";
import { redirectUrl, type VerifiedRedirect, verifyRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import { challengeFor } from "@oauth-broker/oauth-core/brokered-code";
import { requireMetDemands } from "@oauth-broker/oauth-core/vendor-client";
import type { Trace } from "@oauth-broker/service/http";
import { readAuthorizationRequest, requireClientRedirect } from "../authorization/request.ts";
import type { FindClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import { recordNarrowRequest } from "./narrow-request.ts";
import { vendorSecrets } from "../authorization/vendor-secrets.ts";

export interface AuthorizeDeps extends Pick<HostedDeps, "settings" | "serverKey" | "vendorClient" | "records" | "now"> {
  readonly findClient: FindClient;
}

/**
 * @throws OAuthError for the 400 page until client and redirect URI are verified: the browser is
 *   not redirected
 */
export async function authorize(parameters: Parameters, deps: AuthorizeDeps, trace: Trace): Promise<Answer> {
  const { vendorClient, settings } = deps;
  const { vendor: entry, credentials, scopes } = settings.vendor;
  // 1. who asks, where to
  const { redirect } = await requireClientRedirect(parameters, deps.findClient, verifyRedirectUri, trace);
  try {
    // 2. code flow, PKCE #1, resource, scope
    const { codeChallenge: clientChallenge, scope } = readAuthorizationRequest(parameters, settings);
    const vendor = await vendorClient.resolve(entry);
    requireMetDemands(vendor, credentials, scope);
    // 3. PKCE #2 derived
    const { codeVerifier, nonce } = await vendorSecrets(clientChallenge, vendor, scopes, deps);
    await recordNarrowRequest(clientChallenge, scope, deps);
    // 4. the state verbatim
    return redirectAnswer(
      vendorClient.authorizationUrl(vendor, {
        clientId: credentials.clientId,
        redirectUri: redirect.uri,
        state: parameters.get("state") ?? "",
        scope,
        ...defined({ codeChallenge: challengeFor(vendor, codeVerifier), nonce }),
      }),
    );
  } catch (thrown) {
    return refusal(toOAuthError(thrown), redirect, parameters, trace);
  }
}

/**
 * Without `iss`: the response at this redirect URI is normally the vendor's, so we do not advertise
 * one (rfc9207#2.4).
 */
//= rfc6749#4.1.2.1
function refusal(error: OAuthError, redirect: VerifiedRedirect, parameters: Parameters, trace: Trace): Answer {
  trace.failure = error;
  return redirectAnswer(redirectUrl(redirect, { ...errorMembers(error), state: parameters.get("state") }));
}
