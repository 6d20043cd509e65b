/**
 * The platform's data folder: one SQLite file for everything it stores, and the key file that opens
 * the secrets in it.
 */
import { join } from "node:path";
import type { Clock, KeyWrapper } from "@oauth-broker/oauth-core";
import { localKeyWrapper } from "@oauth-broker/token-store";
import type { SettingsRules } from "./connectors/settings.ts";
import { createConnectorStore } from "./connectors/store-on-records.ts";

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/** Opens nothing yet: the folder and both files are created at the first use. */
export async function openStorage(dataDir: string, now: Clock, rules: SettingsRules) {
  const { sqliteRecordStore } = await import("@oauth-broker/token-store/sqlite");
  /** Also those of the deploy command, of users' sessions and of their connections. */
  const records = sqliteRecordStore({ path: join(dataDir, "platform.sqlite"), now });
  /** The secrets in `records` are sealed under it. */
  const keys: KeyWrapper = localKeyWrapper({ path: join(dataDir, "platform.key") });
  const connectors = createConnectorStore({ records, keys, now, rules });
  return { connectors, records, keys, close: () => connectors.close() };
}
