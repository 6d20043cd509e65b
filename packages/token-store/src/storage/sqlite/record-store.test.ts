import { join } from "node:path";
import { describeRecordStore, fixedClock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, expect, it } from "vitest";
import type { Durability } from "./file.ts";
import { sqliteRecordStore } from "./record-store.ts";

for (const durability of ["normal", "full"] satisfies Durability[]) {
  describeRecordStore(`sqlite, ${durability}`, async (now) => {
    const folder = temporaryFolder();
    const store = sqliteRecordStore({ path: join(folder, "records.sqlite"), now, durability });
    return {
      store,
      dispose: async () => {
        await store.close();
      },
    };
  });
}

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

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
