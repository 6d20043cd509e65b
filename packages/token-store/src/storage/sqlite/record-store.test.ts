import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeRecordStore } from "@oauth-broker/oauth-core/testing";
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
