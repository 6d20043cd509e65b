/** `deploy status` and `deploy logs`: the present state, and what to do next. */
import { EXIT } from "../../cli.ts";
import { callbackWarning, vendorRedirectUri } from "../../oauth/redirect-uri.ts";
import { type CommandContext, logFileOf, readProject } from "./context.ts";
import { holderOf, isProcessAlive } from "../deploy-lease.ts";
import { lastLines } from "../server-process/log-file.ts";

/** @returns the exit code: failed for a connector that does not exist */
export async function showStatus(
  folder: string,
  { json }: { readonly json: boolean },
  context: CommandContext,
): Promise<number> {
  const { storage, print, say } = context;
  const { service } = readProject(folder, context);
  const { name } = service;
  const connector = await storage.connectors.find(name);
  if (connector === undefined) {
    say(`There is no connector ${name} in ${context.config.dataDir} yet. Run deploy init.`);
    return EXIT.failed;
  }
  const [deployment, holder] = await Promise.all([
    storage.connectors.deployment(name),
    holderOf(name, { records: storage.records, isAlive: isProcessAlive }),
  ]);
  if (json) {
    print(JSON.stringify({ connector, deployment: deployment ?? null, deploying: holder ?? null }));
    return EXIT.done;
  }
  const { state, serverUrl, settings } = connector;
  const { platformUrl } = context.config;
  const warning = callbackWarning(connector, platformUrl);
  const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
  const lines = [
    `${name}: ${state}`,
    `  server         ${serverUrl ?? "never deployed"}`,
    `  authentication ${settings.authentication}, registration ${settings.registration}`,
    `  client         ${settings.clientId ?? "none entered"}${settings.hasClientSecret ? ", with a secret" : ""}`,
    `  redirect URI   ${vendorRedirectUri(connector, service, platformUrl)}`,
    ...(deployment === undefined ? [] : [`  last deploy    ${at(deployment.deployedAt)}, mode ${deployment.mode}`]),
    holder === undefined
      ? "  not running; start it with deploy run"
      : `  runs in process ${holder.pid} since ${at(holder.since)}`,
    ...(warning === undefined ? [] : [`Warning: ${warning}`]),
  ];
  print(lines.join("\n"));
  return EXIT.done;
}

export async function showLogs(
  folder: string,
  { lines }: { readonly lines: number },
  context: CommandContext,
): Promise<number> {
  const { name } = readProject(folder, context).service;
  const file = logFileOf(context.config, name);
  const found = await lastLines(file, lines);
  if (found.length === 0) context.say(`Nothing has been written to ${file} yet.`);
  for (const line of found) context.print(line);
  return EXIT.done;
}
