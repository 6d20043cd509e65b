/**
 * What a test file finds and leaves. Vitest loads this into each worker before every test file
 * (`setupFiles`).
 *
 * - Each file finds the globals as Node.js made them, although a file before it in the same worker
 *   replaced some.
 * - What modules export can be replaced for a test (`weaken`).
 * - A test that fails, also by running into its limit, ends the processes it started; a file ends
 *   all that its tests left.
 */
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { flushCompileCache, registerHooks, type ResolveFnOutput } from "node:module";
import { join } from "node:path";
import { makeExportsReplaceable } from "../packages/oauth-core/src/testing/weaken.ts";
import { afterAll, afterEach, beforeEach, vi } from "vitest";

interface Worker {
  readonly children: ReadonlySet<ChildProcess>;
  /** The web framework replaces them when it opens a server. */
  readonly globals: { readonly Request: typeof Request; readonly Response: typeof Response };
}

const KEY = Symbol.for("the worker of these test files");
const shared = globalThis as { [KEY]?: Worker };

/** A worker that is shared loads this file once for each test file. */
function newWorker(): Worker {
  makeExportsReplaceable();
  // A file has one entry in a cache of compiled files, and this worker's modules have a line more than those of the
  // processes that tests start: in one cache, each would compile what the other has compiled.
  const { NODE_COMPILE_CACHE: cache } = process.env;
  if (cache !== undefined) process.env.NODE_COMPILE_CACHE = join(cache, "started-by-tests");
  // In its watch mode, Vitest has to see each import.
  if (process.env.VITEST_MODE === "RUN") resolveOwnImports();
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
  return { children, globals: { Request, Response } };
}

/**
 * Where imports of Node's modules and of this repository's own files lead is known from their text: no look
 * at the disk, and no message to Vitest for its graph. What Vitest itself loads has the same URL in every run,
 * so that it is found in the cache of compiled files; a set-up is loaded again for each test file.
 */
function resolveOwnImports(): void {
  const entries = new Map<string, ResolveFnOutput>();
  let loaded = 0;
  registerHooks({
    resolve: (specifier: string, context, next) => {
      if (specifier.startsWith("node:")) return { url: specifier, format: "builtin", shortCircuit: true };
      const path = specifier.replace(/%3Fvitest=\d+$/, "");
      if (path !== specifier) {
        const url = path.endsWith(".test.ts") ? path : `${path}?${(loaded += 1)}`;
        return { url, format: "module-typescript", shortCircuit: true };
      }
      const parentURL: string = context.parentURL ?? "";
      if (/^\..*\.ts$/.test(specifier) && !parentURL.includes("/node_modules/"))
        return { url: new URL(specifier, parentURL).href, format: "module-typescript", shortCircuit: true };
      if (!specifier.startsWith("@oauth-broker/")) return next(specifier, context);
      const entry = entries.get(specifier) ?? next(specifier, context);
      entries.set(specifier, entry);
      return { ...entry, shortCircuit: true };
    },
  });
}

function end(children: Iterable<ChildProcess>): void {
  for (const child of children) child.kill("SIGKILL");
}

const { children, globals } = (shared[KEY] ??= newWorker());

for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

let before: ReadonlySet<ChildProcess> = new Set();
beforeEach(() => {
  before = new Set(children);
});
afterEach(({ task }) => {
  // Tests that run at the same time do not know whose processes are whose: they end with the file.
  if (task.result?.state === "fail" && task.concurrent !== true) end(children.difference(before));
});
// After the file's own hooks.
afterAll(() => {
  end(children);
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  // For the workers that start while this one runs: what it has compiled, they load.
  flushCompileCache();
});
