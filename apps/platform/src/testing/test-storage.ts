/** The platform's storage in its own folder, for tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { openStorage, type Storage } from "../storage.ts";

export const NOW = 1_700_000_000;

export interface TestStorage extends Storage {
  readonly folder: string;
  /** The same folder, opened again as another process would. */
  reopen(): Promise<Storage>;
}

export async function openTestStorage(): Promise<TestStorage> {
  const folder = mkdtempSync(join(tmpdir(), "platform-test-"));
  const open = (): Promise<Storage> => openStorage(folder, fixedClock(NOW), { allowCidrs: [] });
  const storage = await open();
  return {
    ...storage,
    folder,
    reopen: open,
    close: async () => {
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
