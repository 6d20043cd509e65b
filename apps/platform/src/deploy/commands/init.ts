/**
 * `deploy init`: creates the connector once, as a draft. The settings of a hosted server are known;
 * an administrator enters any other client.
 */
import { EXIT } from "../../cli.ts";
import type { Connector, SettingsChange } from "../../connectors/connector.ts";
import { callbackWarning, redirectUriOf, vendorRedirectUri } from "../../oauth/redirect-uri.ts";
import { type CommandContext, readProject } from "./context.ts";
import type { ServiceFile } from "../service-file/service-file.ts";

/**
 * @param callback the redirect URI for a hosted server; absent: its own, or the one that an
 *   existing connector already has
 * @returns the exit code
 * @throws ConfigError, OAuthError
 */
export async function initConnector(
  folder: string,
  context: CommandContext,
  callback?: Connector["callback"],
): Promise<number> {
  const { service } = readProject(folder, context);
  const { connectors } = context.storage;
  const known = await connectors.find(service.name);
  if (known !== undefined) return showKnown(known, context, callback);
  const isHosted = service.mode === "hosted";
  const settings: SettingsChange = isHosted ? { authentication: "oauth_2_1", registration: "hosted_server" } : {};
  const chosen = callback === undefined ? {} : { callback };
  const connector = await connectors.create({ id: service.name, name: service.name, settings, ...chosen });
  const redirectUri = vendorRedirectUri(connector, service, context.config.platformUrl);
  sayOf(connector, [`Created the connector ${service.name} as a draft.`, ...nextSteps(service, redirectUri)], context);
  return EXIT.done;
}

/**
 * An existing connector keeps everything except the redirect URI, when the command asks for another
 * one.
 */
async function showKnown(
  known: Connector,
  context: CommandContext,
  callback: Connector["callback"] = known.callback,
): Promise<number> {
  const { storage, config } = context;
  const there = `The connector ${known.id} already exists (${known.state});`;
  const redirectUri = redirectUriOf({ ...known, callback }, config.platformUrl);
  if (redirectUri === redirectUriOf(known, config.platformUrl)) {
    sayOf(known, [`${there} nothing was changed.`], context);
    return EXIT.done;
  }
  const changed = await storage.connectors.changeCallback(known.id, callback);
  const next = "Register it with the vendor, then run deploy run. Users have to connect again.";
  sayOf(changed, [`${there} its redirect URI is now ${redirectUri}. ${next}`], context);
  return EXIT.done;
}

function sayOf(connector: Connector, lines: readonly string[], { say, config }: CommandContext): void {
  const warning = callbackWarning(connector, config.platformUrl);
  say([...lines, ...(warning === undefined ? [] : [`Warning: ${warning}`])].join("\n"));
}

function nextSteps({ mode }: ServiceFile, redirectUri: string): string[] {
  if (mode === "none") return ["Next: deploy run."];
  const register = `The redirect URI to register with the vendor: ${redirectUri}`;
  if (mode === "hosted") return [register, "Next: deploy run."];
  return [
    register,
    "Next: on its Settings tab set Authentication to OAuth 2.1 and Registration to Pre-registered Client, enter Client ID, Client",
    "Secret, Authorization URL, Token URL and OAuth Scopes, and save; then run deploy run. Settings may also follow a first deploy run.",
  ];
}
