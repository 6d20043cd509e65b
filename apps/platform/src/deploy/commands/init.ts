/**
 * `deploy init`: the connector, as a draft, once. A hosted server's settings are known; any other
 * client is an administrator's to enter.
 */
import { EXIT } from "../../cli.ts";
import type { Connector } from "../../connectors/connector.ts";
import type { SettingsChange } from "../../connectors/store.ts";
import { callbackWarning, redirectUriOf } from "../../oauth/redirect-uri.ts";
import { type CommandContext, readProject } from "./context.ts";
import type { ServiceFile } from "../service-file/service-file.ts";

/**
 * @param callback which redirect URI a hosted server gets; absent: its own, or what a connector
 *   that is there already has
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
  const settings = firstSettings(service);
  const chosen = callback === undefined ? {} : { callback };
  const connector = await connectors.create({ id: service.name, name: service.name, settings, ...chosen });
  const redirectUri = redirectUriOf(connector, context.config.platformUrl);
  sayOf(connector, [`The connector ${service.name} is made, as a draft.`, ...nextSteps(service, redirectUri)], context);
  return EXIT.done;
}

/**
 * A connector that is there keeps everything but the redirect URI, where another one is asked for.
 */
async function showKnown(
  known: Connector,
  context: CommandContext,
  callback: Connector["callback"] = known.callback,
): Promise<number> {
  const { storage, config } = context;
  const there = `The connector ${known.id} is there already (${known.state});`;
  const redirectUri = redirectUriOf({ ...known, callback }, config.platformUrl);
  if (redirectUri === redirectUriOf(known, config.platformUrl)) {
    sayOf(known, [`${there} nothing was changed.`], context);
    return EXIT.done;
  }
  const changed = await storage.connectors.changeCallback(known.id, callback);
  const next = "Register it with the vendor, then deploy run. Users connect again.";
  sayOf(changed, [`${there} its redirect URI is ${redirectUri} now. ${next}`], context);
  return EXIT.done;
}

function sayOf(connector: Connector, lines: readonly string[], { say, config }: CommandContext): void {
  const warning = callbackWarning(connector, config.platformUrl);
  say([...lines, ...(warning === undefined ? [] : [`Warning: ${warning}`])].join("\n"));
}

function firstSettings({ mode }: ServiceFile): SettingsChange {
  return mode === "hosted" ? { authentication: "oauth_2_1", registration: "hosted_server" } : {};
}

function nextSteps({ mode }: ServiceFile, redirectUri: string): string[] {
  if (mode === "none") return ["Next: deploy run."];
  const register = `The redirect URI to register with the vendor: ${redirectUri}`;
  if (mode === "hosted") return [register, "Next: deploy run."];
  return [
    register,
    "Next: on its Settings tab set Authentication to OAuth 2.1 and Registration to Pre-registered Client, enter Client ID, Client",
    "Secret, Authorization URL, Token URL and OAuth Scopes, save; then deploy run. Settings may also follow a first deploy run.",
  ];
}
