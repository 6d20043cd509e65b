/**
 * The life of a process: signals, a stop that waits for requests in flight, and an exit after an
 * uncaught error.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { inContext, requestContext } from "./request-context.ts";
import { errorFields, type Log } from "./log.ts";

/**
 * @param start listens, or throws: then nothing is left running and the error goes to the caller
 * @param takesRejection a rejection that no code awaits: true, and the process goes on. Absent, or
 *   false: it is an uncaught error
 * @returns once it listens; the process exits with 0 after a signal, also one that arrives while it
 *   starts, with 1 after an uncaught error or a stop that fails
 */
export async function runService<Running extends { stop(): Promise<void> }>(
  start: () => Promise<Running>,
  log: Log,
  takesRejection?: (reason: unknown) => boolean,
): Promise<Running> {
  const started = Promise.withResolvers<Running>();
  let stopping: Promise<void> | undefined;
  const stop = (exitCode: number, fields = {}): void => {
    stopping ??= started.promise.then(async (running) => {
      log.info("stopping", fields);
      const code = await running.stop().then(
        () => exitCode,
        (error: unknown) => {
          log.error("stop_failed", errorFields(error));
          return 1;
        },
      );
      log.flush();
      process.exit(code);
    });
  };
  // On a full disk, or without a reader: what Node.js and tools print is not worth the process.
  process.stderr.on("error", () => undefined);
  // Before the start, so that a signal that arrives with our first log line is handled too.
  onStopSignal((signal) => stop(0, { signal }));
  const running = await start().catch((error: unknown) => {
    // What it lacked matters no more to an operator who has stopped it in the meantime.
    if (stopping !== undefined) process.exit(0);
    throw error;
  });
  started.resolve(running);
  // The process does not go on after an uncaught error: requests in flight finish, then it exits.
  const end = (error: unknown): void => {
    log.error("uncaught", { ...errorFields(error), tool: requestContext().tool });
    stop(1);
  };
  process.on("uncaughtException", end);
  if (takesRejection !== undefined) {
    process.on("unhandledRejection", (reason) => {
      if (!takesRejection(reason)) end(reason);
    });
  }
  return running;
}

const STOPS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/**
 * Node opens its debugger at SIGUSR1 and ends at SIGUSR2. A rotation of logs sends either, and a
 * process that holds secrets must do neither: these do nothing.
 */
const IGNORED = ["SIGUSR1", "SIGUSR2"] as const;

/** The signals of a process that serves: three ask it to stop, and none opens a debugger or ends it. */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  for (const signal of STOPS) process.on(signal, () => stop(signal));
  for (const signal of IGNORED) process.on(signal, () => undefined);
}

/** `work`, and all that it starts, is code of this tool. */
export function inTool<T>(tool: string, work: () => T): T {
  return inContext({ ...requestContext(), tool }, work);
}

/** @returns the tool whose code runs, or ran when a promise was rejected; undefined outside */
export function toolOfContext(): string | undefined {
  return requestContext().tool;
}

/**
 * Why it could not start, and what to do next if that is known.
 *
 * @param name `The broker`
 * @param anotherPort the variable that chooses another port, with an example
 */
export function explainStartFailure(error: unknown, name: string, anotherPort = "PORT=8790"): string {
  if (!(error instanceof Error)) return `${name} could not start.`;
  // The description is for callers; what the operator can do is in the detail.
  if (error instanceof OAuthError && error.detail !== undefined) return error.operatorText;
  return explainListenFailure(error, anotherPort) ?? error.message;
}

type ListenError = NodeJS.ErrnoException & {
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
};

/** @returns undefined for any other error, for example of a file that may not be read */
function explainListenFailure(
  { code, syscall, port, address, hostname }: ListenError,
  anotherPort: string,
): string | undefined {
  if (syscall === "getaddrinfo") return `No address is known for ${hostname}. If HOST names it, correct it.`;
  if (syscall !== "listen") return undefined;
  if (code === "EADDRINUSE") return `Port ${port} is in use. Stop what uses it, or choose another: ${anotherPort}.`;
  if (code === "EACCES") return `Not allowed to listen on port ${port}: choose one above 1023.`;
  if (code === "EADDRNOTAVAIL") return `This machine does not have the address ${address}: correct HOST.`;
  return undefined;
}
