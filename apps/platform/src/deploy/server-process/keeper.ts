/**
 * A process between the deploy and the server it starts. The server and all its child processes end
 * with it, and it ends with the deploy, even if that is killed, so a killed deploy leaves no server
 * behind that holds the port. process.ts starts it as `platform keep`.
 */
import { spawn } from "node:child_process";

/** Longer than one of our servers takes to drain. */
const STOP_MS = 15_000;

/**
 * Runs until the server ends by itself, or until a signal or the end of its stdin stops it.
 *
 * @param command a line for the shell, in the folder and environment of this process
 * @returns the exit code of the server
 */
export async function keep(command: string): Promise<number> {
  // A separate process group: one signal reaches the shell, npm and what they start.
  const child = spawn(command, { shell: true, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  for (const name of ["stdout", "stderr"] as const) {
    // A deploy that was killed reads no more, and the server would wait for it.
    process[name].on("error", () => child[name].resume());
    child[name].pipe(process[name], { end: false });
  }
  const { promise, resolve } = Promise.withResolvers<number>();
  let killing: NodeJS.Timeout | undefined;
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // No process of the group is left.
    }
  };
  const end = (code: number): void => {
    clearTimeout(killing);
    signal("SIGKILL");
    resolve(code);
  };
  const stop = (): void => {
    if (killing !== undefined) return;
    // A process that has left the group may hold the output for ever.
    killing = setTimeout(() => end(child.exitCode ?? 1), STOP_MS);
    signal("SIGTERM");
  };
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, stop);
  process.stdin.on("end", stop).on("error", stop).resume();
  child.on("error", () => end(127));
  // Asked to stop, the shell and npm end at once, and the server holds its output while it drains.
  child.on("exit", stop);
  child.on("close", (code) => end(code ?? 1));
  const code = await promise;
  await Promise.all([written(process.stdout), written(process.stderr)]);
  return code;
}

/** Resolves once the reader has taken all that was written before, or has closed its end. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}
