/**
 * Opens the store of flows and the storage of the keyset that the configuration names. Loads only
 * what the choice needs: the AWS SDK or node:sqlite. Used by app.ts and by the operator's commands.
 */
import type { Clock, RecordStore } from "@oauth-broker/oauth-core";
import { localKeyWrapper } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import type { Config } from "./config.ts";
import { IF_KEY_FILE_IS_LOST } from "./keys/keys-unavailable.ts";
import type { KeysetPlace } from "./keys/keyset-binding.ts";
import { createRevisionFloor } from "./keys/keyset-floor.ts";
import {
  fileKeysetStorage,
  type KeysetStorage,
  memoryKeysetStorage,
  recordKeysetStorage,
} from "./keys/keyset-storage.ts";

export type Stores = Awaited<ReturnType<typeof openStores>>;

type Places = Pick<Config, "baseUrl" | "store" | "keys" | "keysMinRevision">;

/**
 * Opens no connection: a store or key service that is down shows at the first use.
 *
 * @param parts.records instead of the store of the configuration
 */
export async function openStores(config: Places, now: Clock, parts: { readonly records?: RecordStore } = {}) {
  const records = parts.records ?? (await openRecords(config.store, now));
  const { storage, close } = await openKeyset(config, records);
  return {
    records,
    keyset: storage,
    floor: createRevisionFloor({ minimum: config.keysMinRevision, file: floorFileOf(config) }),
    close: async (): Promise<void> => {
      close?.();
      await records.close();
    },
  };
}

async function openRecords(store: Config["store"], now: Clock): Promise<RecordStore> {
  switch (store.kind) {
    case "memory":
      return memoryRecordStore({ now });
    case "sqlite": {
      const { sqliteRecordStore } = await import("@oauth-broker/token-store/sqlite");
      return sqliteRecordStore({ path: store.path, now });
    }
    case "dynamodb": {
      const { dynamodbRecordStore } = await import("@oauth-broker/token-store/dynamodb");
      const { kind: _, ...table } = store;
      return dynamodbRecordStore({ ...table, now });
    }
  }
}

/**
 * Beside the key file, or in the place it would have. A table has no such place: there
 * `keys_min_revision` is the floor.
 */
function floorFileOf({ store, keys }: Pick<Config, "store" | "keys">): string | undefined {
  if (keys.kind === "file") return `${keys.path}.revision`;
  return store.kind === "sqlite" ? `${store.path}.key.revision` : undefined;
}

function placeOf({ baseUrl, store }: Places): KeysetPlace {
  return store.kind === "dynamodb"
    ? { baseUrl, environment: store.region, table: store.table }
    : { baseUrl, environment: "local", table: "records" };
}

async function openKeyset(
  config: Places,
  records: RecordStore,
): Promise<{ readonly storage: KeysetStorage; close?(): void }> {
  const { baseUrl, store, keys } = config;
  const place = placeOf(config);
  if (keys.kind === "kms") {
    const { kmsKeyWrapper } = await import("@oauth-broker/token-store/kms");
    const wrapper = kmsKeyWrapper({ keyId: keys.keyArn });
    const otherwise =
      "a key that is not one of this account's KMS keys: give `keys` the key that belongs to this store";
    return { storage: recordKeysetStorage({ records, place, wrapper, otherwise }), close: () => wrapper.close() };
  }
  // A table is shared with other machines: a key file created here would open none of their
  // keysets.
  const create = store.kind !== "dynamodb";
  if (keys.kind === "file") return { storage: fileKeysetStorage({ path: keys.path, baseUrl, create }) };
  if (store.kind === "memory") return { storage: memoryKeysetStorage() };
  if (store.kind === "dynamodb") throw new TypeError("a table has no key file beside it: config/store-and-keys.ts");
  // The key file is beside the database: a copy of one without the other opens nothing.
  const wrapper = localKeyWrapper({ path: `${store.path}.key` });
  const otherwise = `another key file: restore the key file that belongs to this store. ${IF_KEY_FILE_IS_LOST}`;
  return { storage: recordKeysetStorage({ records, place, wrapper, otherwise }) };
}
