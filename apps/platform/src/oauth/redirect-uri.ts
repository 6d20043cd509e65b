/**
 * The platform's redirect URI for a connector. A deployed server is its author's code. It can lead
 * a user on to another connector's vendor, with the platform's client there and the `state` of
 * another flow. If that vendor answered at the same redirect URI, the platform would hand the
 * vendor's code to the server. So each hosted server has its own redirect URI, and an answer is
 * only accepted at the one its flow began with (broker-client/src/callback.ts). docs/decisions/0026
 * says why pre-registered connectors share one.
 */
import type { Connector } from "../connectors/connector.ts";

/** Of every connector that is not hosted, and of those created before hosted ones had their own. */
export const SHARED_CALLBACK = "/oauth/callback";
/** As a route. Not below the shared one: some vendors accept any path below a registered one. */
export const OWN_CALLBACK = "/oauth/connectors/:id/callback";

type OfConnector = Pick<Connector, "id" | "callback" | "serverUrl" | "settings">;

/**
 * Applies also when an administrator entered the server's endpoints as those of a vendor: the
 * server is the same.
 */
function isHosted({ serverUrl, settings }: OfConnector): boolean {
  const { registration, authorizationUrl, tokenUrl, vendorOrIssuer } = settings;
  if (registration !== "pre_registered_client") return registration === "hosted_server";
  const origin = originOf(serverUrl);
  return origin !== undefined && [authorizationUrl, tokenUrl, vendorOrIssuer].some((url) => originOf(url) === origin);
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

/** @param platformUrl without a trailing slash */
//= rfc9700#4.4.2.2
export function redirectUriOf(connector: OfConnector, platformUrl: string): string {
  const isOwn = isHosted(connector) && connector.callback === "own";
  return platformUrl + (isOwn ? ownCallback(connector) : SHARED_CALLBACK);
}

/** What the author of a hosted server chose, as far as its service.yaml says. */
interface ServerOfAuthor {
  readonly mode: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * What to register at the vendor of a connector: the platform's redirect URI, or the server's own
 * where its author chose that users come back there. Its address is known from the first deploy on.
 */
export function vendorRedirectUri(connector: OfConnector, server: ServerOfAuthor, platformUrl: string): string {
  const { OAUTH_CALLBACK: callback, VENDORS: vendors } = server.environment;
  if (server.mode !== "hosted" || (callback !== "server" && vendors === undefined)) {
    return redirectUriOf(connector, platformUrl);
  }
  const origin = originOf(connector.serverUrl) ?? "DEPLOYMENT_URL";
  const signIn = `${origin}/callback`;
  return vendors === undefined
    ? signIn
    : `${signIn} at the vendor of the sign-in, ${origin}/vendors/ID/callback at each other`;
}

/**
 * The warning to an administrator about a hosted server with the shared redirect URI: the danger,
 * then the remedy.
 */
export function callbackWarning(connector: OfConnector, platformUrl: string): string | undefined {
  if (!isHosted(connector) || connector.callback === "own") return undefined;
  return (
    `${connector.id} shares the redirect URI ${platformUrl}${SHARED_CALLBACK} with other connectors. Its server could lead a user ` +
    `to the vendor of another connector and receive that vendor's code. Register ${platformUrl}${ownCallback(connector)} ` +
    "with its vendor, then call deploy init --own-callback and deploy run."
  );
}

const ownCallback = ({ id }: OfConnector): string => OWN_CALLBACK.replace(":id", id);
