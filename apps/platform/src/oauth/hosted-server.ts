/**
 * What a deployed server says about itself as an authorization server, found as MCP clients find it: 401, protected resource
 * metadata, RFC 8414. Nothing it says may lead away from its own origin: codes and tokens of its users go nowhere else.
 * Callers: connect-client.ts, the connection test of a deploy.
 */
import { extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import { type Fetch, OAuthError } from "@oauth-broker/oauth-core";
import {
  allowInsecureRequests,
  type AuthorizationServer,
  customFetch,
  discoveryRequest,
  dynamicClientRegistrationRequest,
  processDiscoveryResponse,
  processDynamicClientRegistrationResponse,
  processResourceDiscoveryResponse,
} from "oauth4webapi";

export interface HostedServer {
  readonly issuer: string;
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

const PROBE = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const RESOURCE = "/.well-known/oauth-protected-resource";

/**
 * @param serverUrl the connector's, `…/mcp`
 * @throws OAuthError vendor_response_invalid, reason `no_challenge`, `no_resource_metadata`, `no_server_metadata`, `foreign_endpoint`
 *   or `no_pkce`, for a server that does not answer as it must; temporarily_unavailable when it cannot be reached
 */
export async function discoverServer(serverUrl: string, fetch: Fetch): Promise<HostedServer> {
  const { origin } = new URL(serverUrl);
  const challenge = await reach(() => challengeOf(serverUrl, fetch));
  const { authorization_servers: [issuer] = [] } = await reach(() => resourceMetadata(serverUrl, challenge, fetch));
  if (issuer === undefined) throw broken("no_resource_metadata", "names no authorization server");
  requireOwn(issuer, origin);
  const metadata = await reach(() => serverMetadata(issuer, fetch));
  const { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint } = metadata;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw broken("no_server_metadata", "names no authorization or token endpoint");
  }
  const { revocation_endpoint: revocationEndpoint, registration_endpoint: registrationEndpoint } = metadata;
  for (const url of [authorizationEndpoint, tokenEndpoint, revocationEndpoint, registrationEndpoint]) {
    if (url !== undefined) requireOwn(url, origin);
  }
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) throw broken("no_pkce", "offers no PKCE");
  const responseIssuer = issuerOfResponses(metadata);
  return {
    issuer,
    authorizationEndpoint,
    tokenEndpoint,
    ...(revocationEndpoint === undefined ? {} : { revocationEndpoint }),
    ...(registrationEndpoint === undefined ? {} : { registrationEndpoint }),
    ...(responseIssuer === undefined ? {} : { responseIssuer }),
    metadata,
  };
}

/**
 * Becomes a public client of the server.
 *
 * @returns the client id, for every user of the connector
 * @throws OAuthError as discoverServer; reason `no_registration`
 */
export async function registerAt(server: HostedServer, redirectUri: string, fetch: Fetch): Promise<string> {
  if (server.registrationEndpoint === undefined) throw broken("no_registration", "registers no clients");
  const wished = {
    client_name: "Platform",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  try {
    const answer = await reach(() =>
      dynamicClientRegistrationRequest(server.metadata, wished, {
        [customFetch]: (to, { headers, body }) => fetch(to, { method: "POST", headers, body }),
        [allowInsecureRequests]: isInsecure(server.issuer),
      }),
    );
    return (await processDynamicClientRegistrationResponse(answer)).client_id;
  } catch (cause) {
    throw cause instanceof OAuthError ? cause : broken("no_registration", "did not register the platform", cause);
  }
}

/**
 * Where the vendor answers at the platform's callback, its own `iss` comes: exactly the one the server's metadata names is taken,
 * for this server alone. Standard clients refuse there (design §6).
 */
//= rfc9207#2.4
function issuerOfResponses(metadata: AuthorizationServer): string | undefined {
  const { vendor_issuer: vendorIssuer } = metadata;
  if (typeof vendorIssuer === "string") return vendorIssuer;
  return metadata.authorization_response_iss_parameter_supported === true ? metadata.issuer : undefined;
}

async function challengeOf(serverUrl: string, fetch: Fetch): Promise<string | undefined> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const answer = await fetch(serverUrl, { method: "POST", headers, body: PROBE });
  if (answer.status >= 500) throw down();
  if (answer.status !== 401) throw broken("no_challenge", "did not answer 401 to a request without a token");
  return extractWWWAuthenticateParams(answer).resourceMetadataUrl?.href;
}

/** Where the challenge says, else at the path, else at the root. */
async function resourceMetadata(
  serverUrl: string,
  named: string | undefined,
  fetch: Fetch,
): Promise<{ readonly authorization_servers?: readonly string[] }> {
  const { origin, pathname } = new URL(serverUrl);
  if (named !== undefined) requireOwn(named, origin);
  for (const url of named === undefined ? [origin + RESOURCE + pathname, origin + RESOURCE] : [named]) {
    // The second place is asked only where the first has nothing.
    // oxlint-disable-next-line no-await-in-loop
    const answer = await fetch(url, { headers: { accept: "application/json" } });
    if (answer.status >= 500) throw down();
    if (answer.status === 404) continue;
    try {
      //= rfc9728#3.3
      // oxlint-disable-next-line no-await-in-loop
      return await processResourceDiscoveryResponse(new URL(serverUrl), answer);
    } catch (cause) {
      throw broken("no_resource_metadata", "does not describe itself as a protected resource", cause);
    }
  }
  throw broken("no_resource_metadata", "has no protected resource metadata");
}

//= rfc8414#3.3
async function serverMetadata(issuer: string, fetch: Fetch): Promise<AuthorizationServer> {
  const url = new URL(issuer);
  const answer = await discoveryRequest(url, {
    algorithm: "oauth2",
    [customFetch]: (from, { method, headers }) => fetch(from, { method, headers }),
    [allowInsecureRequests]: isInsecure(issuer),
  });
  if (answer.status >= 500) throw down();
  try {
    return await processDiscoveryResponse(url, answer);
  } catch (cause) {
    throw broken("no_server_metadata", "has no authorization server metadata that could be used", cause);
  }
}

/** What may be reached without TLS is for egress to say. */
const isInsecure = (issuer: string): boolean => issuer.startsWith("http:");

function requireOwn(url: string, origin: string): void {
  if (URL.parse(url)?.origin === origin) return;
  throw broken("foreign_endpoint", "leads to another host than its own");
}

async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw cause instanceof OAuthError ? cause : down(cause);
  }
}

const down = (cause?: unknown): OAuthError =>
  new OAuthError("temporarily_unavailable", "The server of this connector cannot be reached now", {
    reason: "server_down",
    cause,
  });

const broken = (reason: string, what: string, cause?: unknown): OAuthError =>
  new OAuthError("vendor_response_invalid", `The server of this connector ${what}`, { reason, cause });
