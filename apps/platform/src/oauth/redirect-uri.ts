/**
 * The platform's redirect URI for a connector. A deployed server is code of its author's: it can
 * lead a user on to another connector's vendor, with the platform's own client there and the
 * `state` of its own flow. Where that vendor answers at the redirect URI that the server's flow has
 * too, the platform hands the vendor's code to the server. So each hosted server has a redirect URI
 * of its own, and an answer counts at the one that its flow began with alone (broker-client,
 * callback.ts). Why pre-registered connectors share one: docs/decisions/0036.
 */
import type { Connector } from "../connectors/connector.ts";

/** Of every connector but hosted ones, and of those that were made before there was another. */
export const SHARED_CALLBACK = "/oauth/callback";
/**
 * As a route. Not below the shared one: some vendors take whatever lies below what is registered.
 */
export const OWN_CALLBACK = "/oauth/connectors/:id/callback";

type OfConnector = Pick<Connector, "id" | "callback" | "serverUrl" | "settings">;

/**
 * Also where an administrator entered the server's own endpoints as those of a vendor: it is the
 * same server that leads users on.
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

/**
 * What an administrator has to know of a hosted server with the shared redirect URI: the danger,
 * then the remedy.
 */
export function callbackWarning(connector: OfConnector, platformUrl: string): string | undefined {
  if (!isHosted(connector) || connector.callback === "own") return undefined;
  return (
    `${connector.id} shares the redirect URI ${platformUrl}${SHARED_CALLBACK} with other connectors: its server could lead a user ` +
    `to the vendor of another one, and would be given that vendor's code. Register ${platformUrl}${ownCallback(connector)} ` +
    "with its vendor, then call deploy init --own-callback and deploy run."
  );
}

const ownCallback = ({ id }: OfConnector): string => OWN_CALLBACK.replace(":id", id);
