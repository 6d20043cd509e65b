/**
 * GET /authorize with the platform's callback: the browser goes on to the vendor, with the platform's redirect URI and state as
 * they came. Nothing is stored. After it the vendor answers the platform, which posts the code to /token (code-grant.ts).
 */
import {
  OAuthError,
  type Parameters,
  redirectUrl,
  requireS256Challenge,
  toOAuthError,
  type VerifiedRedirect,
  errorMembers,
  verifyRedirectUri,
} from "@oauth-broker/oauth-core";
import { type Answer, redirectAnswer } from "@oauth-broker/oauth-core/hono";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { FindClient } from "./clients.ts";
import type { HostedDeps } from "./deps.ts";
import { requireOwnResource, requireScope } from "./requested.ts";
import { vendorSecrets } from "./vendor-secrets.ts";

export interface AuthorizeDeps extends Pick<HostedDeps, "settings" | "serverKey" | "vendorClient"> {
  readonly findClient: FindClient;
}

/** @throws OAuthError for the 400 page: client and redirect URI are not verified, so nobody is sent anywhere */
export async function authorize(parameters: Parameters, deps: AuthorizeDeps, trace: Trace): Promise<Answer> {
  const redirect = await requireClientRedirect(parameters, deps, trace); //         1  who asks, and where the answer may go
  try {
    refuseWhatIsNotSpoken(parameters); //                                           2  code flow by query, plain parameters
    const codeChallenge = requireChallenge(parameters); //                          3  PKCE #1, S256
    requireOwnResource(parameters, deps.settings); //                               4  for this server's /mcp
    const scope = requireScope(parameters.get("scope"), deps.settings); //          5  at most VENDOR_SCOPES
    return await toVendor({ redirect, codeChallenge, scope }, parameters, deps); // 6  PKCE #2 derived, state verbatim
  } catch (thrown) {
    return refusal(toOAuthError(thrown), redirect, parameters, trace);
  }
}

//= bar#AS-1
async function requireClientRedirect(
  parameters: Parameters,
  { findClient }: AuthorizeDeps,
  trace: Trace,
): Promise<VerifiedRedirect> {
  const client = await findClient(parameters.require("client_id"));
  if (client === undefined) throw new OAuthError("invalid_request", "client_id is not known here");
  trace.clientId = client.clientId;
  return verifyRedirectUri(parameters.require("redirect_uri"), client.redirectUris);
}

//= bar#AS-2
function requireChallenge(parameters: Parameters): string {
  return requireS256Challenge(parameters.get("code_challenge"), parameters.get("code_challenge_method"));
}

//= bar#AS-19
function refuseWhatIsNotSpoken(parameters: Parameters): void {
  if (parameters.has("request")) throw new OAuthError("request_not_supported", "Request objects are not taken");
  if (parameters.has("request_uri")) throw new OAuthError("request_uri_not_supported", "request_uri is not taken");
  //= rfc6749#3.1.1
  if (parameters.require("response_type") !== "code") {
    throw new OAuthError("unsupported_response_type", "response_type must be code");
  }
  if ((parameters.get("response_mode") ?? "query") !== "query") {
    throw new OAuthError("invalid_request", "response_mode must be query");
  }
}

interface Verified {
  readonly redirect: VerifiedRedirect;
  readonly codeChallenge: string;
  readonly scope: readonly string[];
}

async function toVendor(
  { redirect, codeChallenge: clientChallenge, scope }: Verified,
  parameters: Parameters,
  deps: AuthorizeDeps,
): Promise<Answer> {
  const { vendorClient, settings } = deps;
  const vendor = await vendorClient.resolve(settings.vendor.vendor);
  const { codeChallenge, nonce } = await vendorSecrets(clientChallenge, vendor, deps);
  return redirectAnswer(
    vendorClient.authorizationUrl(vendor, {
      clientId: settings.vendor.credentials.clientId,
      redirectUri: redirect.uri,
      state: parameters.get("state") ?? "",
      scope,
      ...(codeChallenge === undefined ? {} : { codeChallenge }),
      ...(nonce === undefined ? {} : { nonce }),
    }),
  );
}

/** Without `iss`: what comes back to this redirect URI is as a rule the vendor's, so we do not advertise one (rfc9207#2.4). */
//= rfc6749#4.1.2.1
function refusal(error: OAuthError, redirect: VerifiedRedirect, parameters: Parameters, trace: Trace): Answer {
  trace.failure = error;
  return redirectAnswer(redirectUrl(redirect, { ...errorMembers(error), state: parameters.get("state") }));
}
