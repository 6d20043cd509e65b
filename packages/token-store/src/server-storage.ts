/**
 * Everything a deployed server stores, from one set of environment variables: its users' tokens,
 * and its own records (sessions, keys), in the same table or the same SQLite file, sealed under the
 * same keys. So there is one thing to configure, to permit and to back up.
 */
import { type Clock, type KeyContext, type KeyWrapper, type RecordStore, systemClock } from "@oauth-broker/oauth-core";
import { type OpenTokenStoreOptions, openTokens, readTokenStoreSettings, type TokenStoreSettings } from "./config.ts";
import { timed } from "./storage/timed.ts";
import type { TokenStore } from "./token-store.ts";

/** The tokens and the records of one deployed server, in one store and under the same keys. */
export interface ServerStorage {
  readonly tokens: TokenStore;
  readonly records: RecordStore;
  /**
   * The keys of the tokens and of everything else that is sealed. Undefined only in mode `bridge`
   * without a key.
   */
  readonly keys: KeyWrapper | undefined;
  /** What sealed values are bound to, in addition to their purpose. */
  readonly context: KeyContext;
  /** @throws OAuthError temporarily_unavailable */
  ping(): Promise<void>;
  /** As TokenStore.close, and the records. */
  close(): Promise<void>;
}

/**
 * Uses the variables and rules of `openTokenStore`. A store or key service that is down does not
 * fail here.
 *
 * @throws TokenStoreError as openTokenStore
 */
export async function openServerStorage(options: OpenTokenStoreOptions = {}): Promise<ServerStorage> {
  const settings = readTokenStoreSettings({ mode: options.mode }, options.environment);
  const { tokens, keys, table } = await openTokens(settings, options);
  const records = timed(await openRecords(settings, options.now ?? systemClock), "records", options.onTiming);
  return {
    tokens,
    records,
    keys,
    context: { environment: settings.environment, table },
    ping: async () => {
      await Promise.all([tokens.ping(), records.ping()]);
    },
    close: async () => {
      await tokens.close();
      await records.close();
    },
  };
}

async function openRecords({ rows }: TokenStoreSettings, now: Clock): Promise<RecordStore> {
  if (rows.kind === "sqlite") {
    const { sqliteRecordStore } = await import("./storage/sqlite/record-store.ts");
    return sqliteRecordStore({ path: rows.path, now });
  }
  const { dynamodbRecordStore } = await import("./storage/dynamodb/record-store.ts");
  return dynamodbRecordStore({ table: rows.table, region: rows.region, now });
}
