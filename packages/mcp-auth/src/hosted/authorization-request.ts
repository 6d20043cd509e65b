/**
 * What a client asks for at `/authorize`, read and checked the same way for both callbacks: first who asks and where the answer
 * may go, which decides whether an error is a page or a redirect; then the rest. Callers: authorize.ts, server-callback/.
 */
import { OAuthError, type Parameters, requireS256Challenge, type VerifiedRedirect } from "@oauth-broker/oauth-core";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { HostedSettings } from "../settings.ts";
import type { HostedClient } from "./clients/client.ts";
import { requireOwnResource, requireScope } from "./requested.ts";

export interface ClientLookup<C extends HostedClient> {
  readonly findClient: (clientId: string) => Promise<C | undefined>;
  /** Exact, or with the freedom native clients have in their port. @throws OAuthError invalid_redirect_uri */
  readonly verifyRedirect: (requested: string, registered: readonly string[]) => VerifiedRedirect;
}

/** @throws OAuthError for the 400 page: nobody is sent anywhere */
//= bar#AS-1
export async function requireClientRedirect<C extends HostedClient>(
  parameters: Parameters,
  { findClient, verifyRedirect }: ClientLookup<C>,
  trace: Trace,
): Promise<{ readonly client: C; readonly redirect: VerifiedRedirect }> {
  const client = await findClient(parameters.require("client_id"));
  if (client === undefined) throw new OAuthError("invalid_request", "client_id is not known here");
  trace.clientId = client.clientId;
  return { client, redirect: verifyRedirect(parameters.require("redirect_uri"), client.redirectUris) };
}

export interface AuthorizationRequest {
  /** PKCE #1, S256. */
  readonly codeChallenge: string;
  /** What the user is asked for at the vendor. */
  readonly scope: readonly string[];
}

/** @throws OAuthError for the redirect */
export function readAuthorizationRequest(parameters: Parameters, settings: HostedSettings): AuthorizationRequest {
  refuseWhatIsNotSpoken(parameters);
  const codeChallenge = requireS256Challenge(parameters.get("code_challenge"), parameters.get("code_challenge_method"));
  requireOwnResource(parameters, settings);
  return { codeChallenge, scope: requireScope(parameters.get("scope"), settings) };
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
