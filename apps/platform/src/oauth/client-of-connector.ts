/**
 * The OAuth client of a connector, towards a deployed server, a vendor, or the broker, behind one
 * interface. Created again for each operation from the present settings. Before it: connections.ts.
 */
import {
  type ConnectClient,
  createBrokerClient,
  type StartRequest,
  type Tokens,
  type VendorTarget,
} from "@oauth-broker/broker-client";
import { defineVendor, direct, type DirectVendorOptions } from "@oauth-broker/broker-client/direct";
import { computeScopeUnion } from "@modelcontextprotocol/client";
import { defined, type Fetch, type OAuthError, type Secret } from "@oauth-broker/oauth-core";
import { expandTemplate } from "@oauth-broker/oauth-core/protocol";
import type { Connector, ConnectorSettings } from "../connectors/connector.ts";
import type { SealedStore } from "../connectors/connector-secrets.ts";
import type { ConnectorStore } from "../connectors/store-on-records.ts";
import { isVendorId, vendorOfSettings } from "../connectors/vendor.ts";
import { enteredClient, registeredClient } from "./hosted-server/client-registration.ts";
import { discoverServer, type Whereabouts } from "./hosted-server/discover.ts";
import { refusal } from "../refusal.ts";
import { redirectUriOf } from "./redirect-uri.ts";

export interface BrokerAccess {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
}

export interface ClientDeps extends Whereabouts, SealedStore {
  readonly connectors: Pick<ConnectorStore, "clientSecret">;
  readonly fetch: Fetch;
  /** Without path and trailing slash; the redirect URIs are below it (redirect-uri.ts). */
  readonly platformUrl: string;
  readonly egress: { readonly allowLoopback: boolean; readonly allowCidrs: readonly string[] };
  /** Absent: this deployment has no broker, and broker connectors cannot be used. */
  readonly broker?: BrokerAccess;
}

export type RevocableToken = "access_token" | "refresh_token";

/** ConnectClient for one connector, which is the target of each call. */
export type ConnectorClient = ReturnType<typeof onClient>;

/**
 * @throws OAuthError invalid_request for incomplete settings, reason `client_missing`,
 *   `broker_missing`, …; as discoverServer
 */
export async function clientOfConnector(connector: Connector, deps: ClientDeps): Promise<ConnectorClient> {
  const { registration } = connector.settings;
  const here = { ...deps, redirectUri: redirectUriOf(connector, deps.platformUrl) };
  if (registration === "hosted_server") return clientOfHostedServer(connector, here);
  if (registration === "pre_registered_client") return clientOfVendor(connector, here);
  if (registration === "broker") return clientOfBroker(connector, here);
  throw noSignIn();
}

interface Here extends ClientDeps {
  readonly redirectUri: string;
}

async function clientOfHostedServer({ id, serverUrl, settings }: Connector, deps: Here): Promise<ConnectorClient> {
  if (serverUrl === undefined) throw notDeployed();
  const server = await discoverServer(serverUrl, deps.fetch, deps);
  const { clientId: entered } = settings;
  if (entered === undefined && server.registrationEndpoint === undefined) throw noClient();
  const { clientId, clientSecret, method } =
    entered === undefined
      ? await registeredClient(id, server, deps)
      : enteredClient(entered, await deps.connectors.clientSecret(id), server);
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint, responseIssuer } = server;
  const vendor = defineVendor({
    id: "deployed-server",
    name: "Deployed server",
    issuer: responseIssuer ?? server.issuer,
    issRequired: responseIssuer !== undefined,
    // The tokens are for the server itself; only the server and the vendor know the user's identity
    // there.
    issuesIdTokens: false,
    authorizationEndpoint,
    tokenEndpoint,
    ...defined({ revocationEndpoint }),
    tokenEndpointAuthMethod: method,
  });
  //= rfc8707#2
  return onDirect(
    { vendor, credentials: credentialsOf(clientId, clientSecret) },
    { resource: server.resource, ...defined({ scope: settings.scopes ?? server.scope }) },
    deps,
  );
}

async function clientOfVendor({ id, settings }: Connector, deps: Here): Promise<ConnectorClient> {
  const { clientId } = settings;
  if (clientId === undefined) throw noClient();
  const credentials = credentialsOf(clientId, await deps.connectors.clientSecret(id));
  return onDirect({ ...vendorOfSettings(settings), credentials }, defined({ scope: settings.scopes }), deps);
}

function onDirect(options: DirectVendorOptions, request: StartRequest, deps: Here): ConnectorClient {
  const { redirectUri, fetch, egress, now } = deps;
  return onClient(direct({ ...options, redirectUri, fetch, egress, now }), {}, request);
}

async function clientOfBroker({ id, settings }: Connector, deps: Here): Promise<ConnectorClient> {
  const { broker, redirectUri, fetch, now } = deps;
  if (broker === undefined) {
    throw refusal(
      "broker_missing",
      "This deployment has no broker. An administrator has to choose a pre-registered client under Settings",
    );
  }
  const clientSecret = broker.clientSecret.reveal();
  const client = createBrokerClient({ ...broker, clientSecret, redirectUri, fetch, now });
  const target = brokerTarget(settings, await deps.connectors.clientSecret(id));
  return onClient(client, target, defined({ scope: settings.scopes }));
}

/**
 * A client id in the settings means BYOC; without one the broker's shared credentials are used. The
 * broker may have vendors that this registry has not.
 */
function brokerTarget(settings: ConnectorSettings, secret: Secret | undefined): VendorTarget {
  const { clientId, vendorOrIssuer, authorizationUrl, tokenUrl, placeholders } = settings;
  const isVendor = vendorOrIssuer !== undefined && isVendorId(vendorOrIssuer);
  const endpoints = defined({ authorizationEndpoint: authorizationUrl, tokenEndpoint: tokenUrl });
  return {
    ...(isVendor ? { vendor: vendorOrIssuer } : {}),
    ...(isVendor || vendorOrIssuer === undefined ? {} : { issuer: expandTemplate(vendorOrIssuer, placeholders, {}) }),
    ...(Object.keys(endpoints).length === 0 ? {} : { endpoints }),
    ...(Object.keys(placeholders).length === 0 ? {} : { placeholders }),
    ...(clientId === undefined ? {} : { byoc: credentialsOf(clientId, secret) }),
  };
}

function onClient(client: ConnectClient, target: VendorTarget, request: StartRequest) {
  // Refresh and revoke use `connection`, which names everything except the caller's own
  // credentials.
  const own = defined({ byoc: target.byoc });
  return {
    /** Its scope, space-separated, is requested in addition to the usual scope. */
    start: ({ scope, ...more }: StartRequest = {}) =>
      client.start({ ...target, ...request, ...more, ...defined({ scope: computeScopeUnion(request.scope, scope) }) }),
    finish: client.finish,
    refresh: ({ refreshToken = "", connection }: Tokens) => client.refresh({ refreshToken, connection, ...own }),
    /** @param which the refresh token, if there is one, unless it says otherwise */
    revoke: ({ refreshToken, accessToken, connection }: Tokens, which: RevocableToken = "refresh_token") =>
      refreshToken === undefined || which === "access_token"
        ? client.revoke({ token: accessToken, tokenTypeHint: "access_token", connection, ...own })
        : client.revoke({ token: refreshToken, tokenTypeHint: "refresh_token", connection, ...own }),
  };
}

function credentialsOf(clientId: string, secret: Secret | undefined): { clientId: string; clientSecret?: string } {
  return { clientId, ...defined({ clientSecret: secret?.reveal() }) };
}

const noClient = (): OAuthError =>
  refusal("client_missing", "This connector has no OAuth client. An administrator has to enter one under Settings");

export const notDeployed = (): OAuthError =>
  refusal("not_deployed", "The server of this connector is not deployed yet. Try again after its first deploy");

export const noSignIn = (): OAuthError =>
  refusal("nothing_to_connect", "This server needs no sign-in. Call its tools directly");
