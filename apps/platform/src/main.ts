/**
 * The platform's entry point: reads the command line and the settings, runs one command, handles
 * signals. stdout carries results; messages for the operator go to stderr.
 */
import { fileURLToPath } from "node:url";
import { createLog } from "@oauth-broker/oauth-core/service";
import { type Command, EXIT, HELP, parseCommand } from "./cli.ts";
import { systemClock } from "./clock.ts";
import { loadPlatformConfig, loadServeConfig, readEnvironment, startFolder } from "./config.ts";
import type { CommandContext } from "./deploy/commands/context.ts";
import { initConnector } from "./deploy/commands/init.ts";
import { keep } from "./deploy/server-process/keeper.ts";
import { runDeploy } from "./deploy/commands/run.ts";
import { showLogs, showStatus } from "./deploy/commands/status.ts";
import { serve } from "./serve.ts";
import { openStorage } from "./storage.ts";

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(command: Command): Promise<number> {
  switch (command.name) {
    case "help":
      print(HELP);
      return EXIT.done;
    case "invalid":
      say(command.message);
      return EXIT.usage;
    case "keep":
      return keep(command.command);
    case "serve":
      return inContext(command, ({ config, storage, environment }) =>
        serve(loadServeConfig(environment, config), { storage, log: createLog(), say, stopped: stopSignal() }),
      );
    case "init":
    case "run":
    case "status":
    case "logs":
      return inContext(command, (context) => {
        if (command.name === "init") return initConnector(command.folder, context, command.callback);
        if (command.name === "status") return showStatus(command.folder, command, context);
        if (command.name === "logs") return showLogs(command.folder, command, context);
        return run(command, context);
      });
  }
}

async function inContext(
  { dataDir }: { readonly dataDir: string | undefined },
  act: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const environment = readEnvironment();
  const start = startFolder(environment);
  const config = loadPlatformConfig(environment, start, dataDir);
  const storage = await openStorage(config.dataDir, systemClock, config);
  try {
    return await act({ config, storage, now: systemClock, environment, start, say, print });
  } finally {
    await storage.close();
  }
}

function run({ folder, allowed }: Extract<Command, { name: "run" }>, context: CommandContext): Promise<number> {
  const keeper = { file: fileURLToPath(import.meta.url) };
  return runDeploy(folder, { ...context, allowed, log: createLog(), keeper, stopped: stopSignal() });
}

function stopSignal(): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopped.resolve());
  return stopped.promise;
}

try {
  process.exit(await main(parseCommand(process.argv.slice(2))));
} catch (error) {
  say(error instanceof Error ? error.message : "The command failed.");
  process.exit(EXIT.failed);
}
