/**
 * A test that fails, also by running into its limit, ends the processes it started; a file ends all
 * that its tests left. Vitest loads this into each worker (`setupFiles`), before every test file.
 */
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { afterAll, afterEach, beforeEach } from "vitest";

const KEY = Symbol.for("children of this worker");
const worker = globalThis as { [KEY]?: Set<ChildProcess> };

/** A worker that is shared loads this file once for each test file. */
function childrenOfThisWorker(): Set<ChildProcess> {
  const children = new Set<ChildProcess>();
  subscribe("child_process", (message) => {
    const { process: child } = message as { readonly process: ChildProcess };
    children.add(child);
    child.once("exit", () => children.delete(child));
  });
  // Vitest stops a worker with SIGTERM: after its last file, or in the midst of one.
  process.once("SIGTERM", () => {
    end(children);
    process.exit(143);
  });
  return children;
}

function end(children: Iterable<ChildProcess>): void {
  for (const child of children) child.kill("SIGKILL");
}

const children = (worker[KEY] ??= childrenOfThisWorker());

let before: ReadonlySet<ChildProcess> = new Set();
beforeEach(() => {
  before = new Set(children);
});
afterEach(({ task }) => {
  if (task.result?.state === "fail") end(children.difference(before));
});
afterAll(() => end(children));
