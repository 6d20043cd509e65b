/** The vendor tools as users run them: as a separate process. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface VendorProcess {
  readonly ended: Promise<Ended>;
  /** @returns its stderr so far, once `pattern` is in it; rejects when the process ends before */
  said(pattern: RegExp): Promise<RegExpExecArray>;
}

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

/**
 * Without a terminal, and with only these variables of the vendors. Killed after a minute, and with
 * the test.
 */
export function startVendorTool(args: readonly string[], env: Readonly<Record<string, string>> = {}): VendorProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      for (const watch of watchers) watch();
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => resolve({ code, ...output }));
  });
  return {
    ended,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          const found = pattern.exec(output.stderr);
          if (found !== null) resolve(found);
        };
        watchers.add(watch);
        watch();
        void ended.then(() =>
          reject(new Error(`It ended without ${pattern.source}:\n${output.stdout}${output.stderr}`)),
        );
      }),
  };
}
