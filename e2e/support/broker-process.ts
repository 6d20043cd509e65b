/**
 * The broker as an operator runs it: a process of its own, a broker.yaml in a folder of its own, SIGTERM at the end.
 * Its output is kept, and searched for every planted secret when it stops.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll } from "vitest";
import { BROKER_BUNDLE, BROKER_SOURCE } from "./paths.ts";
import { findSecrets } from "./secrets.ts";

export interface BrokerProcessOptions {
  /** The text of broker.yaml; absent: no file is written, which is the sandbox. */
  readonly yaml?: string;
  /** Where broker.yaml lies and relative paths start; a fresh folder by default. Several processes may share one. */
  readonly folder?: string;
  /** `dist`: the built file. `src`: what `npm start` runs. */
  readonly entry?: "dist" | "src";
  /** Another built file than the repository's: a copy of it elsewhere. */
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface BrokerProcess {
  /** As the process says itself, in the first JSON line with a `url`. */
  readonly url: string;
  readonly folder: string;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** @returns the exit code once the process has ended by itself, or by a signal sent before */
  exited(): Promise<number | null>;
  /** Sends SIGTERM and waits. @throws Error when it does not exit with 0, wrote a line that is no JSON, or a secret */
  stop(): Promise<void>;
}

const START_MS = 20_000;
const EXIT_MS = 20_000;

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "oauth-broker-e2e-"));
}

/** @throws Error with its stderr when the process ends, or says nothing, before it listens */
export async function startBrokerProcess(options: BrokerProcessOptions): Promise<BrokerProcess> {
  const folder = options.folder ?? temporaryFolder();
  if (options.yaml !== undefined) writeFileSync(join(folder, "broker.yaml"), options.yaml);
  const child = spawnBroker([], folder, options);
  const output = collect(child);
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const url = await firstUrl(child, ended).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw new Error(`${String(error)}\n${output.stderr()}${output.stdout()}`);
  });
  const exited = async (): Promise<number | null> => withDeadline(ended, EXIT_MS, "the broker to exit");
  return {
    url,
    folder,
    pid: child.pid ?? 0,
    ...output,
    signal: (name) => void child.kill(name),
    exited,
    stop: async () => {
      child.kill("SIGTERM");
      const code = await exited().finally(() => child.kill("SIGKILL"));
      if (code !== 0) throw new Error(`The broker exited with ${code}:\n${output.stderr()}`);
      requireCleanOutput(output);
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An operator's command beside the running broker, e.g. `["flow", id]`. */
export async function runBrokerCommand(
  args: readonly string[],
  folder: string,
  options: Pick<BrokerProcessOptions, "entry" | "env"> = {},
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawnBroker(args, folder, options);
  const output = collect(child);
  const [code] = (await withDeadline(once(child, "close"), EXIT_MS, `broker ${args.join(" ")}`)) as [number | null];
  return { code, stdout: output.stdout(), stderr: output.stderr() };
}

/** A test that fails on its way to `stop` must not leave its broker behind: after the file's own hooks, this one. */
const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Nothing but PATH and what the test names: a built file needs no more (design §8). */
function spawnBroker(args: readonly string[], folder: string, options: BrokerProcessOptions): ChildProcess {
  const { entry = "dist", env } = options;
  const file = options.file ?? (entry === "dist" ? BROKER_BUNDLE : BROKER_SOURCE);
  const child = spawn(process.execPath, [file, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

function collect(child: ChildProcess): Pick<BrokerProcess, "stdout" | "stderr"> {
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
  }
  return { stdout: () => texts.stdout, stderr: () => texts.stderr };
}

async function firstUrl(child: ChildProcess, ended: Promise<number | null>): Promise<string> {
  if (child.stdout === null) throw new Error("The broker has no stdout");
  const lines = createInterface({ input: child.stdout });
  const found = new Promise<string>((resolve, reject) => {
    lines.on("line", (line) => {
      try {
        const { url } = JSON.parse(line) as { readonly url?: string };
        if (url !== undefined) resolve(url);
      } catch {
        reject(new Error(`The broker wrote a line that is no JSON: ${line}`));
      }
    });
  });
  const gone = ended.then((code) => {
    throw new Error(`The broker ended with ${code} before it listened`);
  });
  return withDeadline(Promise.race([found, gone]), START_MS, "the broker to listen");
}

function requireCleanOutput({ stdout, stderr }: Pick<BrokerProcess, "stdout" | "stderr">): void {
  const found = findSecrets(stdout() + stderr());
  if (found.length > 0) throw new Error(`The broker printed secrets: ${found.join(", ")}`);
  for (const line of stdout().split("\n")) if (line !== "") JSON.parse(line);
}

async function withDeadline<T>(promise: Promise<T>, milliseconds: number, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Waited ${milliseconds} ms for ${what}`)), milliseconds);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
