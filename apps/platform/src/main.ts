/**
 * The platform's entry point: parses the command line and runs one command. A deploy starts this file
 * again with `keep`, which is for no command line: the keeper of a server lives as long as the server,
 * so it loads nothing else.
 */
import { fileURLToPath } from "node:url";
import { keep } from "./deploy/server-process/keeper.ts";

const args = process.argv.slice(2);
const [first, command] = args;
process.exit(await (first === "keep" && command !== undefined ? keep(command) : run()));

/** @returns the exit code */
async function run(): Promise<number> {
  try {
    const { parseCommand } = await import("./cli.ts");
    const { runCommand } = await import("./run-command.ts");
    return await runCommand(parseCommand(args), fileURLToPath(import.meta.url));
  } catch (error) {
    const { explainStartFailure } = await import("@oauth-broker/service");
    const message = explainStartFailure(error, "The platform", "PLATFORM_URL=http://127.0.0.1:8790");
    process.stderr.write(`${message}\n`);
    return 1;
  }
}
