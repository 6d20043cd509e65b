/** `deploy init`: the connector, as a draft, once. A hosted server's settings are known; any other client is an administrator's to enter. */
import { EXIT } from "../cli.ts";
import type { SettingsChange } from "../connectors/store.ts";
import { type CommandContext, readProject } from "./context.ts";
import type { ServiceFile } from "./service-file.ts";

/** @returns the exit code. @throws ConfigError, OAuthError */
export async function initConnector(folder: string, context: CommandContext): Promise<number> {
  const { service } = readProject(folder, context);
  const { connectors } = context.storage;
  const known = await connectors.find(service.name);
  if (known !== undefined) {
    context.say(`The connector ${service.name} is there already (${known.state}); nothing was changed.`);
    return EXIT.done;
  }
  await connectors.create({ id: service.name, name: service.name, settings: firstSettings(service) });
  context.say([`The connector ${service.name} is made, as a draft.`, ...nextSteps(service)].join("\n"));
  return EXIT.done;
}

function firstSettings({ mode }: ServiceFile): SettingsChange {
  return mode === "hosted" ? { authentication: "oauth_2_1", registration: "hosted_server" } : {};
}

function nextSteps({ mode }: ServiceFile): string[] {
  if (mode !== "pre-registered") return ["Next: deploy run."];
  return [
    "Next: on its Settings tab set Authentication to OAuth 2.1 and Registration to Pre-registered Client, enter Client ID, Client",
    "Secret, Authorization URL, Token URL and OAuth Scopes, save; then deploy run. Settings may also follow a first deploy run.",
  ];
}
