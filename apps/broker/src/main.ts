/**
 * The broker's entry: command line and configuration in, one command run, signals heard. Decides nothing else.
 * stdout carries JSON lines only; what is meant for people goes to stderr.
 */
import { type Command, parseCommand } from "./cli.ts";
import { type Config, loadConfig, readEnvironment } from "./config.ts";
import { createLog, errorFields } from "@oauth-broker/oauth-core/service";
import { runOperatorCommand } from "./operator.ts";
import { type Running, start } from "./start.ts";

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(command: Command): Promise<void> {
  const load = () => loadConfig(readEnvironment(), process.cwd());
  if (command.name === "serve") await serve(load());
  else process.exitCode = await runOperatorCommand(command, load);
}

async function serve(config: Config): Promise<void> {
  const log = createLog();
  const started = Promise.withResolvers<Running>();
  let stopping: Promise<void> | undefined;
  const stop = (exitCode: number, event: string, fields = {}): void => {
    stopping ??= started.promise.then(async (running) => {
      log.info(event, fields);
      await running.stop();
      process.exit(exitCode);
    });
  };
  // Before the start, so that a signal that comes with our first line is heard too.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop(0, "stopping", { signal }));
  const running = await start(config, log);
  started.resolve(running);
  say(running.greeting);
  // Nothing runs on after a bug nobody caught: what is in flight is finished, then the process ends (bar 8.7).
  process.on("uncaughtException", (error) => {
    log.error("uncaught", errorFields(error));
    stop(1, "stopping");
  });
}

main(parseCommand(process.argv.slice(2))).catch((error: unknown) => {
  say(explainFailure(error));
  process.exit(1);
});

/** What to do next, where we know. */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return "The broker could not start.";
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === "EADDRINUSE") return `Port ${port ?? ""} is in use. Stop what uses it, or choose another: PORT=8790.`;
  if (code === "EACCES") return `Not allowed to listen on port ${port ?? ""}: choose one above 1023.`;
  return error.message;
}
