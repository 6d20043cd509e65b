/**
 * Whom tokens are of and for: another client, another way to it or another server, and they must
 * not be used any more.
 */
import { createHash } from "node:crypto";
import type { Connector } from "../connectors/connector.ts";
import { secretRecipient } from "../connectors/settings.ts";

/**
 * @returns 43 base64url characters. Shared credentials and a client of the connector's own differ,
 *   so switching is seen
 */
export function recipientOfConnector({ serverUrl = "", callback, settings }: Connector): string {
  const { registration, authorizationUrl = "" } = settings;
  // A hosted server knows the platform by another client for each redirect URI.
  const own = registration === "hosted_server" && callback === "own" ? ["own callback"] : [];
  return recipientOf([registration, serverUrl, authorizationUrl, ...secretRecipient(settings), ...own]);
}

export function recipientOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
