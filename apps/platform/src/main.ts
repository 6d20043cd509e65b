/**
 * The platform's entry point: parses the command line and runs one command. The keeper of a server
 * lives as long as the server, so it loads nothing that it does not need.
 */
import { fileURLToPath } from "node:url";
import { EXIT, parseCommand } from "./cli.ts";
import { keep } from "./deploy/server-process/keeper.ts";

async function main(): Promise<number> {
  const command = parseCommand(process.argv.slice(2));
  if (command.name === "keep") return keep(command.command);
  const { runCommand } = await import("./run-command.ts");
  return runCommand(command, fileURLToPath(import.meta.url));
}

try {
  process.exit(await main());
} catch (error) {
  const { explainStartFailure } = await import("@oauth-broker/service");
  const message = explainStartFailure(error, "The platform", "PLATFORM_URL=http://127.0.0.1:8790");
  process.stderr.write(`${message}\n`);
  process.exit(EXIT.failed);
}
