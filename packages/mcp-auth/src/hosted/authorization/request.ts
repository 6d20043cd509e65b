/**
 * The authorization request at `/authorize`, parsed and checked the same way for both callbacks:
 * first the client and its redirect URI, which decide whether an error is a page or a redirect;
 * then the rest. Shared by platform-callback/ and server-callback/.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { namedScopes, type Parameters, parseScope, requireS256Challenge } from "@oauth-broker/oauth-core/protocol";
import type { VerifiedRedirect } from "@oauth-broker/oauth-core/authorization-server";
import type { Trace } from "@oauth-broker/service/http";
import type { HostedSettings, LinkPolicy } from "../../settings.ts";
import type { HostedClient } from "../clients/client.ts";
import { unknownClient } from "../clients/metadata-document.ts";
import { requireOwnResource } from "../../resource/paths.ts";
import { ignorableScopes, supportedScopes, withoutIgnored } from "../link-policy/scope.ts";

/**
 * @param verifyRedirect exact, or with the free loopback port of native clients
 * @throws OAuthError for the 400 page: the browser is not redirected
 */
//= bar#AS-1
export async function requireClientRedirect<C extends HostedClient>(
  parameters: Parameters,
  findClient: (clientId: string) => Promise<C | undefined>,
  verifyRedirect: (requested: string, registered: readonly string[]) => VerifiedRedirect,
  trace: Trace,
): Promise<{ readonly client: C; readonly redirect: VerifiedRedirect }> {
  const clientId = parameters.require("client_id");
  const client = await findClient(clientId);
  if (client === undefined) throw unknownClient(clientId);
  trace.clientId = client.clientId;
  return { client, redirect: verifyRedirect(parameters.require("redirect_uri"), client.redirectUris) };
}

export interface AuthorizationRequest {
  /** PKCE #1, S256. */
  readonly codeChallenge: string;
  /** The scope of the session, as the user is shown it. */
  readonly scope: readonly string[];
  /** The scope requested at the vendor, which with `VENDOR` is the same. */
  readonly vendorScope: readonly string[];
}

/** @throws OAuthError for the redirect */
export function readAuthorizationRequest(parameters: Parameters, settings: HostedSettings): AuthorizationRequest {
  refuseUnsupported(parameters);
  const codeChallenge = requireS256Challenge(parameters.get("code_challenge"), parameters.get("code_challenge_method"));
  requireOwnResource(parameters, settings);
  const scope = requireScope(parameters.get("scope"), settings.links);
  return { codeChallenge, scope, vendorScope: settings.links.signInScope(scope) };
}

/** Which button was pressed on a page that asks its user. */
export function readDecision(form: Parameters): "approve" | "deny" {
  const decision = form.require("decision");
  if (decision === "approve" || decision === "deny") return decision;
  throw new OAuthError("invalid_request", "decision must be approve or deny");
}

//= bar#AS-19
function refuseUnsupported(parameters: Parameters): void {
  if (parameters.has("request")) throw new OAuthError("request_not_supported", "Request objects are not supported");
  if (parameters.has("request_uri")) throw new OAuthError("request_uri_not_supported", "request_uri is not supported");
  //= rfc6749#3.1.1
  if (parameters.require("response_type") !== "code") {
    throw new OAuthError("unsupported_response_type", "response_type must be code");
  }
  if ((parameters.get("response_mode") ?? "query") !== "query") {
    throw new OAuthError("invalid_request", "response_mode must be query");
  }
}

/**
 * @param scope as received; absent means all
 * @throws OAuthError invalid_scope for anything beyond `scopes_supported`
 */
//= rfc6749#3.3
function requireScope(scope: string | undefined, links: LinkPolicy): readonly string[] {
  const supported = supportedScopes(links);
  const requested = withoutIgnored(scope === undefined ? [] : parseScope(scope), ignorableScopes(links), supported);
  const unknown = requested.filter((token) => !supported.includes(token));
  //= rfc6749#3.3
  if (unknown.length > 0) throw new OAuthError("invalid_scope", `This server does not support ${namedScopes(unknown)}`);
  return requested.length === 0 ? supported : links.requestedScope(requested);
}
