/** What tests open, and what ends with them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from "vitest";

/** @returns a new folder of the test that runs, removed after the test and its hooks */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Opened before all tests of a file or of a group, and closed or stopped after them: what was
 * opened last, first.
 *
 * @returns what `open` will have given, for the tests: before them it has no members
 */
export function shared<T extends object>(open: () => T | Promise<T>): T {
  return opened(open, beforeAll, afterAll);
}

/** The same for each of these tests by itself. */
export function ofEachTest<T extends object>(open: () => T | Promise<T>): T {
  return opened(open, beforeEach, afterEach);
}

type Hook = (run: () => Promise<unknown>) => void;

function opened<T extends object>(open: () => T | Promise<T>, before: Hook, after: Hook): T {
  let current: (T & { close?(): unknown; stop?(): unknown }) | undefined;
  before(async () => {
    current = await open();
  });
  after(async () => (current?.close === undefined ? current?.stop?.() : current.close()));
  return new Proxy({} as T, {
    get: (_, name) => current && (Reflect.get(current, name) as unknown),
    // Its own methods are called on this proxy.
    set: (_, name, value) => current !== undefined && Reflect.set(current, name, value),
    ownKeys: () => (current === undefined ? [] : Reflect.ownKeys(current)),
    getOwnPropertyDescriptor: (_, name) =>
      current && { ...Reflect.getOwnPropertyDescriptor(current, name), configurable: true },
  });
}
