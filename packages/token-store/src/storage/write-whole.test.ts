import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { writeWhole } from "./write-whole.ts";

it("is on the disk before it has its name, and its name is once it returns", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "keys");
  const handle = await open(folder);
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, "sync");
  await handle.close();
  const syncs: number[] = [];
  await writeWhole(file, "new", async (...names) => {
    syncs.push(sync.mock.calls.length);
    await rename(...names);
  });
  expect([...syncs, sync.mock.calls.length]).toEqual([1, 2]);
  sync.mockRestore();
});
