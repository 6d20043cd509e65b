/**
 * A hash over everything that tokens belong to: the client, the flow and the server. When any of
 * them changes, the tokens must not be used any more.
 */
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import type { Connector } from "../connectors/connector.ts";
import { secretRecipient } from "../connectors/settings.ts";

/**
 * @returns 43 base64url characters. Shared credentials and a client of the connector's own differ,
 *   so that a switch between them is detected
 */
export function recipientOfConnector({ serverUrl = "", callback, settings }: Connector): string {
  const { registration, authorizationUrl = "" } = settings;
  // A hosted server knows the platform by another client for each redirect URI.
  const own = registration === "hosted_server" && callback === "own" ? ["own callback"] : [];
  return recipientOf([registration, serverUrl, authorizationUrl, ...secretRecipient(settings), ...own]);
}

export function recipientOf(parts: readonly string[]): string {
  return hashOf(JSON.stringify(parts));
}
