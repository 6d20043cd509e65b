/**
 * `token-store` as an operator runs it: a process that is killed at a random moment, or runs to its
 * end.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));

export interface Ended {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** Its JSON lines. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

export type Kill =
  /** This many milliseconds after its start, at any point of its work. */
  | { readonly afterStartMs: number }
  /** This many milliseconds after it began to work on rows. */
  | { readonly afterWorkMs: number };

/** @param kill default: it runs to its end */
export async function runToEnd(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  kill?: Kill,
): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  const working = Promise.withResolvers<void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (/"pass":[1-9]/.test(stdout)) working.resolve();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const gone = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  if (kill !== undefined) {
    const due = "afterStartMs" in kill ? sleep(kill.afterStartMs) : working.promise.then(() => sleep(kill.afterWorkMs));
    void Promise.race([due, gone]).then(() => child.kill("SIGKILL"));
  }
  const [code, signal] = await gone;
  // The last line of a killed process may be incomplete.
  const lines = stdout.split("\n").filter((line) => line.endsWith("}"));
  return { code, signal, stderr, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}
