/**
 * A server that the bench starts and stops. It prints its `url` in a JSON line on stdout;
 * afterwards its output is read all the time, as by a log collector behind a service.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process until it listened. */
  readonly startMs: number;
  /**
   * Sends SIGTERM and waits.
   * @throws Error when it ended before, or ends in another way than requested
   */
  stop(): Promise<void>;
}

export interface ServerCommand {
  /** For messages. */
  readonly name: string;
  /** Of Node.js: flags, the file, its arguments. */
  readonly args: readonly string[];
  /** The folder it runs in. */
  readonly folder: string;
  /** In addition to PATH; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each line of its stdout, after it listens. */
  readonly onLine?: (line: string) => void;
}

/** A busy machine, and a store that is filled first, take long. */
const START_MS = 120_000;
const STOP_MS = 20_000;
const KEPT_CHARACTERS = 4_000;

/** One listener for all of them. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** @throws Error with its stderr when it ends, or prints nothing, before it listens */
export async function startServer({ name, args, folder, env, onLine }: ServerCommand): Promise<ServerProcess> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  running.add(child);
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-KEPT_CHARACTERS);
  });
  const ended = once(child, "exit").then(([code, signal]) => {
    running.delete(child);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  const early = ended.then(({ code, signal }) => {
    throw new Error(`${name} ended with ${code ?? signal}:\n${complaints}`);
  });
  // The exit is handled below or in stop(); between the two nothing waits for it.
  early.catch(() => undefined);

  const lines = createInterface({ input: child.stdout });
  const listening = new Promise<string>((resolve) => {
    lines.on("line", (line) => {
      const { url } = JSON.parse(line) as { readonly url?: string };
      if (url !== undefined) resolve(url);
    });
  });
  const url = await within(START_MS, `${name} to listen`, [listening, early]).catch((error: unknown) => {
    kill();
    throw error;
  });
  const startMs = performance.now() - startedAt;
  if (onLine === undefined) {
    lines.close();
    child.stdout.resume();
  } else lines.removeAllListeners("line").on("line", onLine);
  return {
    url,
    pid: child.pid ?? 0,
    startMs,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return early;
      child.kill("SIGTERM");
      const { code, signal } = await within(STOP_MS, `${name} to end`, [ended]).finally(kill);
      if (code !== 0 && signal !== "SIGTERM") throw new Error(`${name} ended with ${code ?? signal}:\n${complaints}`);
    },
  };
}

async function within<T>(milliseconds: number, what: string, promises: readonly Promise<T>[]): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Waited ${milliseconds} ms for ${what}`)), milliseconds);
  try {
    return await Promise.race([...promises, late]);
  } finally {
    clearTimeout(timer);
  }
}
