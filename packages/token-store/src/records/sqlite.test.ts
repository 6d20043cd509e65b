import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeRecordStore } from "@oauth-broker/oauth-core/testing";
import { sqliteRecordStore } from "./sqlite.ts";

describeRecordStore("sqlite", async (now) => {
  const folder = mkdtempSync(join(tmpdir(), "records-"));
  const store = sqliteRecordStore({ path: join(folder, "records.sqlite"), now });
  return {
    store,
    dispose: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});
