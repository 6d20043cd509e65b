/**
 * A deployed server as a process of this machine: started by its own command with only the
 * environment of its deployment, its output kept in a file, ready when it prints the URL it listens
 * on. Before it: deploy.ts. Beside it: keeper.ts.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { lastLines, openLog } from "./log-file.ts";

/** How to run `platform keep`. */
export interface Keeper {
  /** The platform's entry file, for Node. */
  readonly file: string;
}

export interface ServerCommand {
  readonly command: string;
  /** The folder of the server's project. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
}

const START_MS = 60_000;
/** Node prints an uncaught error above its stack of ten frames: message, source line, properties. */
const SHOWN_LINES = 30;

/**
 * @throws Error with the end of the server's output, when it ends, is stopped or prints no URL in
 *   time
 */
export async function startServerProcess(
  { command, folder, environment, logFile }: ServerCommand,
  { keeper, stopped }: { readonly keeper: Keeper; readonly stopped?: Promise<void> },
) {
  const log = await openLog(logFile);
  const child = spawn(process.execPath, [keeper.file, "keep", command], {
    cwd: folder,
    env: { ...environment },
    // What kills the group of the deploy leaves the keeper, which then ends the server.
    detached: true,
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stderr.pipe(log, { end: false });
  child.stdout.pipe(log, { end: false });
  // Where the disk is full the rest is lost. The pipes read on, or the server would wait for them.
  log.on("error", () => [child.stdout, child.stderr].forEach((output) => output.resume()));
  const ended = once(child, "close").then(async ([code]) => {
    log.end();
    if (!log.closed) await once(log, "close");
    return (code as number | null) ?? 1;
  });
  const failure = await firstUrl(child, ended, stopped);
  if (failure !== undefined) {
    child.stdin.end();
    await ended;
    const shown = await lastLines(logFile, SHOWN_LINES);
    throw new Error(
      [`The server did not start: ${failure}. Its last lines:`, ...shown.map((line) => `  ${line}`)].join("\n"),
    );
  }
  return {
    pid: child.pid ?? 0,
    /** Settles when the server has ended, for any reason. */
    ended,
    stop: async (): Promise<void> => {
      child.stdin.end();
      await ended;
    },
  };
}

/** @returns why it prints none; undefined once it has */
async function firstUrl({ stdout }: { readonly stdout: Readable }, ended: Promise<number>, stopped?: Promise<void>) {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const lines = createInterface({ input: stdout }).on("line", (line) => hasUrl(line) && resolve(undefined));
  const late = setTimeout(() => resolve(`it printed no "url" within ${START_MS / 1000} s`), START_MS);
  void stopped?.then(() => resolve("it was stopped"));
  ended.then((code) => resolve(`it ended with code ${code}`), reject);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    lines.close();
    // Closing has paused it, and the log reads on.
    stdout.resume();
  }
}

/** A JSON line with `url`, which a server prints when it listens. */
function hasUrl(line: string): boolean {
  try {
    const said: unknown = JSON.parse(line);
    return typeof said === "object" && said !== null && "url" in said && typeof said.url === "string";
  } catch {
    return false;
  }
}
