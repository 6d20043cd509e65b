/**
 * Child processes of tests: started from a file of this folder, controlled by messages, and always
 * ended.
 */
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** @returns the processes once each has reported that it is ready */
export async function startProcesses(file: string, args: readonly string[], count: number): Promise<ChildProcess[]> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const children = Array.from({ length: count }, () => fork(path, args, { execArgv: [] }));
  await Promise.all(children.map(nextMessage));
  return children;
}

/** @throws when the process ends instead */
export function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`the process ended with ${code}`));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      resolve(message as T);
    });
  });
}

/** Sends all of them the same order and collects the answers. */
export async function orderAll<T>(children: readonly ChildProcess[], order: object): Promise<T[]> {
  const answers = children.map((child) => nextMessage<T>(child));
  for (const child of children) child.send(order);
  return Promise.all(answers);
}

export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
