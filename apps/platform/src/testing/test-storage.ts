/** The platform's storage in its own folder, for tests. */
import { fixedClock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { openStorage, type Storage } from "../storage.ts";

export const NOW = 1_700_000_000;

export type TestStorage = Awaited<ReturnType<typeof openTestStorage>>;

export async function openTestStorage() {
  const folder = temporaryFolder();
  const open = (): Promise<Storage> => openStorage(folder, fixedClock(NOW), { allowCidrs: [] });
  /** `reopen`: the same folder, opened again as another process would. */
  return { ...(await open()), folder, reopen: open };
}
