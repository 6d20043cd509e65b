/**
 * A server that the bench starts and ends: says its `url` in the first JSON line on stdout that has one, then runs with
 * a reader behind its output, as a service does behind a log collector.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Sends SIGTERM and waits. @throws Error when it ended before, or ends in any other way than asked */
  stop(): Promise<void>;
}

export interface ServerCommand {
  /** For messages. */
  readonly name: string;
  /** Of Node.js: flags, the file, its arguments. */
  readonly args: readonly string[];
  /** Where it runs. */
  readonly folder: string;
  /** Beside PATH; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
}

const START_MS = 20_000;
const STOP_MS = 20_000;
const KEPT_CHARACTERS = 4_000;

/** @throws Error with what it wrote to stderr when it ends, or is silent, before it listens */
export async function startServer({ name, args, folder, env }: ServerCommand): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-KEPT_CHARACTERS);
  });
  const ended = once(child, "exit").then(([code, signal]) => {
    process.off("exit", kill);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  const early = ended.then(({ code, signal }) => {
    throw new Error(`${name} ended with ${code ?? signal}:\n${complaints}`);
  });
  // Heard below or in stop(); between the two nobody waits for it.
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
  lines.close();
  child.stdout.resume();
  return {
    url,
    pid: child.pid ?? 0,
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
