/**
 * One run of the vendor tools: takes arguments, prints lines and returns an exit code. Called by
 * main.ts.
 */
import type { Environment } from "./environment.ts";
import { runFind } from "./commands/find.ts";
import { runDrift } from "./commands/drift.ts";
import { runNew } from "./commands/new.ts";
import { type Command, parseCommand } from "./options.ts";
import { runProbe } from "./commands/probe.ts";
import { isRefusal } from "./refusal.ts";
import { runStale } from "./commands/stale.ts";
import { runTry } from "./commands/try.ts";

/**
 * @param args the arguments without program and script
 * @returns the exit code; any other exception is a bug
 */
export async function runVendor(args: readonly string[], environment: Environment): Promise<number> {
  try {
    return await run(parseCommand(args), environment);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    environment.tell(error.message);
    return error.exitCode;
  }
}

async function run(command: Command, environment: Environment): Promise<number> {
  switch (command.name) {
    case "help":
      environment.print(command.text);
      return 0;
    case "find":
      return runFind(command.query, environment);
    case "drift":
      return runDrift(command, environment);
    case "new":
      return runNew(command, environment);
    case "probe":
      return runProbe(command, environment);
    case "stale":
      return runStale(command, environment);
    case "try":
      return runTry(command, environment);
  }
}
