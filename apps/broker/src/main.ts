/**
 * The broker's entry point: reads the command line and the configuration, runs one command, handles
 * signals. stdout carries JSON lines only; messages for the operator go to stderr.
 */
import { parseCommand, type Request } from "./cli/command-line.ts";
import { type Config, loadConfig, readEnvironment } from "./config.ts";
import { answerUsage, TERMINAL, type UsageAnswer } from "@oauth-broker/oauth-core/command-line";
import { bufferedStdout, createLog, explainStartFailure, runService } from "@oauth-broker/service";
import { runOperatorCommand } from "./cli/operator.ts";
import { sandboxUse } from "./sandbox.ts";
import { start } from "./start.ts";

async function main(asked: Request | UsageAnswer): Promise<void> {
  if ("exitCode" in asked) {
    process.exitCode = answerUsage(asked);
    return;
  }
  const { command, sandbox } = asked;
  const load = () => loadConfig(readEnvironment(), process.cwd(), { sandbox: sandboxUse(sandbox) });
  if (command.name === "serve") await serve(load);
  else process.exitCode = await runOperatorCommand(command, load);
}

/** @param load after the signals are handled: from then on the process holds secrets */
async function serve(load: () => Config): Promise<void> {
  const stdout = bufferedStdout();
  const log = createLog(stdout);
  const { greeting } = await runService(async () => start(load(), log, { stdout }), log);
  TERMINAL.say(greeting);
}

main(parseCommand(process.argv.slice(2))).catch((error: unknown) => {
  TERMINAL.say(explainStartFailure(error, "The broker"));
  process.exit(1);
});
