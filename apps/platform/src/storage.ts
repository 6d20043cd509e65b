/**
 * The platform's data folder: one SQLite file for everything it stores, and the key file that opens
 * the secrets in it.
 */
import { join } from "node:path";
import type { Clock, KeyWrapper, RecordStore } from "@oauth-broker/oauth-core";
import { localKeyWrapper } from "@oauth-broker/token-store";
import type { SettingsRules } from "./connectors/settings.ts";
import { createConnectorStore } from "./connectors/store-on-records.ts";
import type { ConnectorStore } from "./connectors/store.ts";

export interface Storage {
  readonly connectors: ConnectorStore;
  /** The records of the deploy command, of users' sessions and of their connections. */
  readonly records: RecordStore;
  /** The key file: the secrets in `records` are sealed under it. */
  readonly keys: KeyWrapper;
  close(): Promise<void>;
}

/** Opens nothing yet: the folder and both files are created at the first use. */
export async function openStorage(dataDir: string, now: Clock, rules: SettingsRules): Promise<Storage> {
  const { sqliteRecordStore } = await import("@oauth-broker/token-store/sqlite");
  const records = sqliteRecordStore({ path: join(dataDir, "platform.sqlite"), now });
  const keys = localKeyWrapper({ path: join(dataDir, "platform.key") });
  const connectors = createConnectorStore({ records, keys, now, rules });
  return { connectors, records, keys, close: () => connectors.close() };
}
