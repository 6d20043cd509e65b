/**
 * What a server says about its authorization server, found as MCP clients find it. Where the
 * platform deployed it, nothing may lead away from its own origin: codes and tokens of its users go
 * nowhere else. Before it: protected-resource.ts. After it: client.ts, client-of-connector.ts.
 */
import { buildDiscoveryUrls } from "@modelcontextprotocol/client";
import { defined, type Fetch } from "@oauth-broker/oauth-core";
import { type AuthorizationServer, processDiscoveryResponse } from "oauth4webapi";
import { discoverResource, requireOwn } from "./protected-resource.ts";
import { broken, down, reach } from "./failure.ts";

export interface HostedServer {
  readonly issuer: string;
  /** What its tokens are for, as it names itself. */
  readonly resource: string;
  /** What to ask for, space-separated; absent: nothing in particular. */
  readonly scope?: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string;
  /** Absent: an administrator enters the client on the Settings tab. */
  readonly registrationEndpoint?: string;
  /** Whose `iss` the authorization response carries; undefined where it need not carry any. */
  readonly responseIssuer?: string;
  /** As the metadata has it, for oauth4webapi. */
  readonly metadata: AuthorizationServer;
}

export interface Whereabouts {
  /** A server that the platform did not deploy may leave authorization to one elsewhere. */
  readonly foreignAuthorizationServers?: boolean;
}

/**
 * @param serverUrl the connector's, `…/mcp`
 * @throws OAuthError vendor_response_invalid, reason `no_challenge`, `no_resource_metadata`,
 *   `no_server_metadata`, `foreign_endpoint` or `no_pkce`, for a server that does not answer as it
 *   must; temporarily_unavailable when it cannot be reached
 */
export async function discoverServer(
  serverUrl: string,
  fetch: Fetch,
  { foreignAuthorizationServers = false }: Whereabouts = {},
): Promise<HostedServer> {
  const { origin } = new URL(serverUrl);
  const { issuer, resource, scope } = await discoverResource(serverUrl, fetch);
  if (!foreignAuthorizationServers) requireOwn(issuer, origin);
  const metadata = await reach(() => serverMetadata(issuer, fetch));
  const { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint } = metadata;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw broken("no_server_metadata", "names no authorization or token endpoint");
  }
  const { revocation_endpoint: revocationEndpoint, registration_endpoint: registrationEndpoint } = metadata;
  for (const url of [authorizationEndpoint, tokenEndpoint, revocationEndpoint, registrationEndpoint]) {
    if (url !== undefined && !foreignAuthorizationServers) requireOwn(url, origin);
  }
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) throw broken("no_pkce", "offers no PKCE");
  const responseIssuer = issuerOfResponses(metadata);
  const requested = withRefresh(scope, metadata);
  return {
    issuer,
    resource,
    authorizationEndpoint,
    tokenEndpoint,
    ...defined({ scope: requested, revocationEndpoint, registrationEndpoint, responseIssuer }),
    metadata,
  };
}

/**
 * A resource does not ask for refresh tokens; the platform asks for them where the authorization
 * server has a scope for it.
 */
function withRefresh(scope: string | undefined, { scopes_supported: known }: AuthorizationServer): string | undefined {
  if (scope === undefined || known?.includes("offline_access") !== true) return scope;
  return scope.split(" ").includes("offline_access") ? scope : `${scope} offline_access`;
}

/**
 * Where the vendor answers at the platform's callback, its own `iss` comes: exactly the one the
 * server's metadata names is taken, for this server alone. Standard clients refuse there.
 */
//= rfc9207#2.4
function issuerOfResponses(metadata: AuthorizationServer): string | undefined {
  const { vendor_issuer: vendorIssuer } = metadata;
  if (typeof vendorIssuer === "string") return vendorIssuer;
  return metadata.authorization_response_iss_parameter_supported === true ? metadata.issuer : undefined;
}

/**
 * RFC 8414 first, then OpenID Connect; a path in the issuer goes behind the well-known name, for
 * the latter also before it.
 */
//= rfc8414#3.3
async function serverMetadata(issuer: string, fetch: Fetch): Promise<AuthorizationServer> {
  if (URL.parse(issuer) === null) throw broken("no_server_metadata", "names an authorization server that is no URL");
  for (const { url } of buildDiscoveryUrls(issuer)) {
    // The next place is asked only where this one has nothing.
    // oxlint-disable-next-line no-await-in-loop
    const answer = await fetch(url.href, { headers: { accept: "application/json" } });
    if (answer.status >= 500) throw down();
    if (answer.status === 404) continue;
    try {
      // oxlint-disable-next-line no-await-in-loop
      return await processDiscoveryResponse(new URL(issuer), answer);
    } catch (cause) {
      throw broken("no_server_metadata", "has no authorization server metadata that could be used", cause);
    }
  }
  throw broken("no_server_metadata", "has no authorization server metadata");
}
