/**
 * A process between the deploy and the server it starts: the server's whole family ends with it,
 * and it ends with the deploy, however that ends. A deploy that was killed leaves no server behind
 * to hold its port. Started by process.ts as `platform keep`.
 */
import { spawn } from "node:child_process";

/** Longer than a server of ours takes to drain. */
const STOP_MS = 15_000;

/**
 * Runs until the server ends, by itself or because this is told to stop: by a signal, or by the end
 * of its stdin.
 *
 * @param command a line for the shell, in the folder and environment this process has
 * @returns the server's exit code
 */
export function keep(command: string): Promise<number> {
  // A process group of its own: a shell, npm and what they start are one to a signal.
  const child = spawn(command, { shell: true, detached: true, stdio: ["ignore", "inherit", "inherit"] });
  let killing: NodeJS.Timeout | undefined;
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // No process of the group is left.
    }
  };
  const stop = (): void => {
    if (killing !== undefined) return;
    killing = setTimeout(() => signal("SIGKILL"), STOP_MS);
    signal("SIGTERM");
  };
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, stop);
  process.stdin.on("end", stop).on("error", stop).resume();
  return new Promise((resolve) => {
    const end = (code: number): void => {
      clearTimeout(killing);
      signal("SIGKILL");
      resolve(code);
    };
    child.on("error", () => end(127));
    child.on("exit", (code) => end(code ?? 1));
  });
}
