/**
 * A service as an operator runs it: its own process in its own folder, SIGTERM at the end. Its
 * output is kept, and searched for every planted secret when it stops. broker/process.ts and
 * mcp/process.ts choose the service.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "@oauth-broker/oauth-core/testing";
import { createLog } from "@oauth-broker/service";
import { findSecrets } from "./secrets.ts";

export interface Service {
  /** In messages, e.g. `broker`. */
  readonly name: string;
  /** The file that Node runs. */
  readonly file: string;
  /** Of Node, before the file. */
  readonly flags?: readonly string[] | undefined;
  /** Arguments for the start. */
  readonly args?: readonly string[];
  /** The folder it starts in, where relative paths start; a fresh one by default. Several may share one. */
  readonly folder?: string | undefined;
  /** Written into the folder first: text by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * It is measured: it inherits nothing but PATH, and of its output, which is read all the time as
   * by a log collector, only the end of stderr is kept.
   */
  readonly isMeasured?: boolean;
  /** Called with each line of its stdout after it listens, if it is measured. */
  readonly onLine?: ((line: string) => void) | undefined;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const START_MS = patience(6_000);
/** A busy machine, and a store that is filled first, take long. */
const MEASURED_START_MS = 120_000;
const EXIT_MS = patience(6_000);

const KEPT_CHARACTERS = 4_000;

const folders = new Set<string>();
/** One listener for all of them: none outlives the process that started it. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  removeTemporaryFolders();
});

/** Removed when the test file ends, or the program. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "oauth-broker-e2e-"));
  folders.add(folder);
  return folder;
}

/** For new-test-file.ts. */
export function removeTemporaryFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

export type ServiceProcess = Awaited<ReturnType<typeof startService>>;
/** @throws Error with its stderr when the process ends, or prints nothing, before it listens */
export async function startService(service: Service) {
  const { name, isMeasured = false, onLine } = service;
  const folder = service.folder ?? temporaryFolder();
  const startedAt = performance.now();
  for (const [file, text] of Object.entries(service.files ?? {})) writeFileSync(join(folder, file), text);
  const child = spawnService(service, service.args ?? [], folder);
  const output = keepOutput(child, isMeasured);
  // With what it wrote last: "exit" may come before that.
  const ended = once(child, "close").then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout });
  const url = await firstUrl(service, lines, ended).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw new Error(`${String(error)}\n${output.stderr()}${output.stdout()}`);
  });
  const startMs = performance.now() - startedAt;
  if (onLine === undefined) {
    lines.close();
    child.stdout.resume();
  } else lines.removeAllListeners("line").on("line", onLine);
  const exited = async (): Promise<number | null> => withDeadline(ended, EXIT_MS, `the ${name} to exit`);
  return {
    /** The `url` that the process prints in its first such JSON line. */
    url,
    folder,
    pid: child.pid ?? 0,
    /** From the start of the process until it listened. */
    startMs,
    ...output,
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    /** @returns the exit code once the process has ended by itself, or by a signal sent before */
    exited,
    /**
     * Sends SIGTERM and waits.
     * @throws Error when it does not exit with 0, wrote a line that is not JSON, or a secret; a
     *   measured one may end by the signal
     */
    stop: async () => {
      child.kill("SIGTERM");
      const code = await exited().finally(() => child.kill("SIGKILL"));
      if (isMeasured && child.signalCode === "SIGTERM") return;
      if (code !== 0) throw new Error(`The ${name} exited with ${code}:\n${output.stderr()}`);
      if (!isMeasured) requireCleanOutput(name, output);
    },
  };
}

/** Runs until it ends by itself: an operator's command, or a start that fails. */
export async function runService(service: Service & { readonly folder: string }, ...args: string[]): Promise<Ended> {
  const child = spawnService(service, args, service.folder);
  const output = keepOutput(child);
  const what = [service.name, ...args].join(" ");
  const [code] = (await withDeadline(once(child, "close"), EXIT_MS, what)) as [number | null];
  return { code, stdout: output.stdout(), stderr: output.stderr() };
}

/** Only PATH, the cache of compiled files, and what the test names: a built file needs no more. */
export function spawnService(
  { file, flags = [], env, isMeasured = false }: Service,
  args: readonly string[],
  folder: string,
) {
  const cache = isMeasured ? {} : { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  const child = spawn(process.execPath, [...flags, file, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...cache, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** @param isMeasured only the end of stderr is kept then */
export function keepOutput(child: ReturnType<typeof spawnService>, isMeasured = false) {
  const texts = { stdout: "", stderr: "" };
  for (const name of isMeasured ? (["stderr"] as const) : (["stdout", "stderr"] as const)) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] = isMeasured ? (texts[name] + text).slice(-KEPT_CHARACTERS) : texts[name] + text;
    });
  }
  return { stdout: () => texts.stdout, stderr: () => texts.stderr };
}

async function firstUrl(
  { name, isMeasured = false }: Service,
  lines: Interface,
  ended: Promise<number | null>,
): Promise<string> {
  const found = new Promise<string>((resolve, reject) => {
    lines.on("line", (line) => {
      try {
        const { url } = JSON.parse(line) as { readonly url?: string };
        if (url !== undefined) resolve(url);
      } catch {
        reject(new Error(`The ${name} wrote a line that is no JSON: ${line}`));
      }
    });
  });
  const gone = ended.then((code) => {
    throw new Error(`The ${name} ended with ${code} before it listened`);
  });
  return withDeadline(Promise.race([found, gone]), isMeasured ? MEASURED_START_MS : START_MS, `the ${name} to listen`);
}

/** @throws Error when a line is not JSON, or a planted secret is in one */
function requireCleanOutput(name: string, { stdout, stderr }: ReturnType<typeof keepOutput>): void {
  const found = findSecrets(stdout() + stderr());
  if (found.length > 0) throw new Error(`The ${name} printed secrets: ${found.join(", ")}`);
  for (const line of stdout().split("\n")) if (line !== "") JSON.parse(line);
}

/** The log of a service inside the test. */
export function keepLog(name: string) {
  const lines: string[] = [];
  return {
    log: createLog({ write: (line) => void lines.push(line) }),
    /** So far, a line each. */
    lines: lines as readonly string[],
    /** @throws Error as `requireCleanOutput` */
    requireClean: (stderr = "") => requireCleanOutput(name, { stdout: () => lines.join(""), stderr: () => stderr }),
  };
}

async function withDeadline<T>(promise: Promise<T>, milliseconds: number, what: string): Promise<T> {
  const late = sleep(milliseconds, undefined, { ref: false }).then(() => {
    throw new Error(`Waited ${milliseconds} ms for ${what}`);
  });
  return Promise.race([promise, late]);
}
