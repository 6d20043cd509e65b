import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeRecordStore, fixedClock } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Durability } from "./file.ts";
import { sqliteRecordStore } from "./record-store.ts";

for (const durability of ["normal", "full"] satisfies Durability[]) {
  describeRecordStore(`sqlite, ${durability}`, async (now) => {
    const folder = mkdtempSync(join(tmpdir(), "records-"));
    const store = sqliteRecordStore({ path: join(folder, "records.sqlite"), now, durability });
    return {
      store,
      dispose: async () => {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  });
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "records-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it.each([
  ["stage", { stage: "two", set: {} }, "replayed"],
  ["field", { stage: "one", set: { code: "other" } }, "absent"],
])(
  "bar#CB-3 changes nothing of a row whose %s another process has changed since it was read",
  async (_, patch, outcome) => {
    const now = fixedClock(1_700_000_000);
    const open = () => sqliteRecordStore({ path: join(folder, "records.sqlite"), now });
    const [one, other] = [open(), open()];
    const key = { kind: "k", id: "a" };
    const from = { stage: "one", expect: { code: "first" } };
    await one.create({ key, stage: "one", data: { code: "first" }, expiresAt: now() + 60 });
    await one.get(key);
    expect((await other.advance(key, from, patch)).outcome).toBe("moved");
    expect((await one.advance(key, from, { stage: "three", set: {} })).outcome).toBe(outcome);
    expect(await other.get(key)).toMatchObject({ stage: patch.stage });
    await Promise.all([one.close(), other.close()]);
  },
);
