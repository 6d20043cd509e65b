/**
 * Discovers the authorization server of a server as MCP clients do. For a server that the platform
 * deployed, no URL may leave the server's own origin, because codes and tokens of its users are
 * sent there. Before it: protected-resource.ts. After it: client-registration.ts, client-of-connector.ts.
 */
import { buildDiscoveryUrls } from "@modelcontextprotocol/client";
import { defined, type Fetch } from "@oauth-broker/oauth-core";
import { type AuthorizationServer, processDiscoveryResponse } from "oauth4webapi";
import { discoverResource, requireOwn, requireTypes } from "./protected-resource.ts";
import { ask, broken } from "./failure.ts";

export type HostedServer = Awaited<ReturnType<typeof discoverServer>>;

export interface Whereabouts {
  /** A server that the platform did not deploy may use an authorization server elsewhere. */
  readonly foreignAuthorizationServers?: boolean;
}

/**
 * @param serverUrl the connector's, `…/mcp`
 * @throws OAuthError vendor_response_invalid, reason `no_challenge`, `no_resource_metadata`,
 *   `no_server_metadata`, `foreign_endpoint` or `no_pkce`, for a server with an invalid answer;
 *   temporarily_unavailable when it cannot be reached
 */
export async function discoverServer(
  serverUrl: string,
  fetch: Fetch,
  { foreignAuthorizationServers = false }: Whereabouts = {},
) {
  const { origin } = new URL(serverUrl);
  const { issuer, resource, scope } = await discoverResource(serverUrl, fetch);
  if (!foreignAuthorizationServers) requireOwn(issuer, origin);
  const metadata = await serverMetadata(issuer, fetch);
  const { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint } = metadata;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw broken("no_server_metadata", "names no authorization or token endpoint");
  }
  const { revocation_endpoint: revocationEndpoint, registration_endpoint: registrationEndpoint } = metadata;
  for (const url of [authorizationEndpoint, tokenEndpoint, revocationEndpoint, registrationEndpoint]) {
    if (url !== undefined && !foreignAuthorizationServers) requireOwn(url, origin);
  }
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) throw broken("no_pkce", "offers no PKCE");
  return {
    issuer,
    /** What its tokens are for, by its own name. */
    resource,
    authorizationEndpoint,
    tokenEndpoint,
    ...defined({
      revocationEndpoint,
      /** Absent: an administrator enters the client on the Settings tab. */
      registrationEndpoint,
      /** To request, space-separated; absent: none in particular. */
      scope: withRefresh(scope, metadata),
      responseIssuer: issuerOfResponses(metadata),
    }),
    /** As received, for oauth4webapi. */
    metadata,
  };
}

/**
 * A resource does not ask for refresh tokens; the platform asks for them when the authorization
 * server has a scope for that.
 */
function withRefresh(scope: string | undefined, { scopes_supported: known }: AuthorizationServer): string | undefined {
  if (scope === undefined || known?.includes("offline_access") !== true) return scope;
  return scope.split(" ").includes("offline_access") ? scope : `${scope} offline_access`;
}

/**
 * The `iss` of the authorization response; undefined when none is expected.
 *
 * When the vendor answers at the platform's callback, the response carries the vendor's `iss`.
 * Exactly the one in the server's metadata is accepted, for this server alone. Standard clients
 * refuse it.
 */
//= rfc9207#2.4
function issuerOfResponses(metadata: AuthorizationServer): string | undefined {
  const { vendor_issuer: vendorIssuer } = metadata;
  if (typeof vendorIssuer === "string") return vendorIssuer;
  return metadata.authorization_response_iss_parameter_supported === true ? metadata.issuer : undefined;
}

/**
 * RFC 8414 first, then OpenID Connect. A path in the issuer goes after the well-known name; for
 * OpenID Connect also before it.
 */
//= rfc8414#3.3
async function serverMetadata(issuer: string, fetch: Fetch): Promise<AuthorizationServer> {
  if (URL.parse(issuer) === null) throw broken("no_server_metadata", "names an authorization server that is not a URL");
  for (const { url } of buildDiscoveryUrls(issuer)) {
    // The next place is tried only when this one has no metadata.
    const answer = await ask(fetch, url.href);
    if (answer.status === 404) continue;
    try {
      // oxlint-disable-next-line no-await-in-loop
      return requireTypes(await processDiscoveryResponse(new URL(issuer), answer));
    } catch (cause) {
      throw broken("no_server_metadata", "has no usable authorization server metadata", cause);
    }
  }
  throw broken("no_server_metadata", "has no authorization server metadata");
}
