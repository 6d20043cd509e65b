/** What all tests of a file or of a group share. */
import { afterAll, beforeAll } from "vitest";

type Closing = { close(): Promise<unknown> } | { stop(): Promise<unknown> };

/**
 * Opened before them, and closed after them: what was opened last, first.
 *
 * @returns what `open` will have given, for the tests: before them it has no members
 */
export function shared<T extends Closing>(open: () => Promise<T>): T {
  let opened: T | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(async () => opened && ("close" in opened ? opened.close() : opened.stop()));
  return new Proxy({} as T, {
    get: (_, name) => opened && (Reflect.get(opened, name) as unknown),
    // Its own methods are called on this proxy.
    set: (_, name, value) => opened !== undefined && Reflect.set(opened, name, value),
  });
}
