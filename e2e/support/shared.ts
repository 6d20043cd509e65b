/** What all tests of a file or of a group share. */
import { afterAll, beforeAll } from "vitest";

/**
 * Opened before them, and closed after them.
 *
 * @returns what `open` will have given, for the tests: before them it has no members
 */
export function shared<T extends { close(): Promise<unknown> }>(open: () => Promise<T>): T {
  let opened: T | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());
  return new Proxy({} as T, { get: (_, name) => opened?.[name as keyof T] });
}
