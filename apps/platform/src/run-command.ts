/**
 * Runs one command of the platform: reads the settings, opens the storage, handles signals. stdout
 * carries results; messages for the operator go to stderr.
 */
import { createLog, onStopSignal } from "@oauth-broker/service";
import type { Command } from "./cli.ts";
import { systemClock } from "@oauth-broker/oauth-core";
import { answerUsage, TERMINAL, type UsageAnswer } from "@oauth-broker/oauth-core/command-line";
import { loadPlatformConfig, loadServeConfig, misspeltVariables, readEnvironment, startFolder } from "./config.ts";
import type { CommandContext } from "./deploy/commands/context.ts";
import { initConnector } from "./deploy/commands/init.ts";
import { runDeploy } from "./deploy/commands/run.ts";
import { showLogs, showStatus } from "./deploy/commands/status.ts";
import { serve } from "./serve.ts";
import { openStorage } from "./storage.ts";

const { print, say } = TERMINAL;

/**
 * @param file the platform's entry point, which a deploy starts again as the keeper of its server
 * @returns the exit code
 */
export async function runCommand(command: Command | UsageAnswer, file: string): Promise<number> {
  if ("exitCode" in command) return answerUsage(command);
  switch (command.name) {
    case "serve": {
      const stopped = stopSignal();
      return inContext(command, ({ config, storage, environment }) =>
        serve(loadServeConfig(environment, config), { storage, log: createLog(), say, stopped }),
      );
    }
    case "init":
      return inContext(command, (context) => initConnector(command.folder, context, command.callback));
    case "status":
      return inContext(command, (context) => showStatus(command.folder, command, context));
    case "logs":
      return inContext(command, (context) => showLogs(command.folder, command, context));
    case "run":
      return inContext(command, (context) => {
        const { folder, allowed } = command;
        return runDeploy(folder, { ...context, allowed, log: createLog(), keeper: { file }, stopped: stopSignal() });
      });
  }
}

async function inContext(
  { dataDir }: { readonly dataDir: string | undefined },
  act: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const environment = readEnvironment();
  for (const warning of misspeltVariables(environment)) say(`Warning: ${warning}`);
  const start = startFolder(environment);
  const config = loadPlatformConfig(environment, start, dataDir);
  const storage = await openStorage(config.dataDir, systemClock, config);
  try {
    return await act({ config, storage, now: systemClock, environment, start, say, print });
  } finally {
    await storage.close();
  }
}

function stopSignal(): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  onStopSignal(() => stopped.resolve());
  return stopped.promise;
}
