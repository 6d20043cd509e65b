/**
 * The store of flows and the storage of the keyset, as the configuration has them. What one of them does not need is
 * never loaded: the AWS SDK and node:sqlite come with the choice. Used by app.ts and by the operator's commands.
 */
import type { Clock, RecordStore } from "@oauth-broker/oauth-core";
import { localKeyWrapper, memoryRecordStore } from "@oauth-broker/token-store";
import type { Config } from "./config.ts";
import {
  fileKeysetStorage,
  type KeysetStorage,
  memoryKeysetStorage,
  recordKeysetStorage,
} from "./keys/keyset-storage.ts";

export interface Stores {
  readonly records: RecordStore;
  readonly keyset: KeysetStorage;
  close(): Promise<void>;
}

/** Opens no connection: a store or key service that is down shows at the first use. */
export async function openStores(config: Pick<Config, "store" | "keys">, now: Clock): Promise<Stores> {
  const records = await openRecords(config.store, now);
  const { storage, close } = await openKeyset(config, records);
  return {
    records,
    keyset: storage,
    close: async () => {
      close();
      await records.close();
    },
  };
}

async function openRecords(store: Config["store"], now: Clock): Promise<RecordStore> {
  switch (store.kind) {
    case "memory":
      return memoryRecordStore({ now });
    case "sqlite": {
      const { sqliteRecordStore } = await import("@oauth-broker/token-store/records/sqlite");
      return sqliteRecordStore({ path: store.path, now });
    }
    case "dynamodb": {
      const { dynamodbRecordStore } = await import("@oauth-broker/token-store/records/dynamodb");
      const { kind: _, ...table } = store;
      return dynamodbRecordStore({ ...table, now });
    }
  }
}

async function openKeyset(
  { store, keys }: Pick<Config, "store" | "keys">,
  records: RecordStore,
): Promise<{ readonly storage: KeysetStorage; close(): void }> {
  if (keys.kind === "kms") {
    const { kmsKeyWrapper } = await import("@oauth-broker/token-store/keys/kms");
    const wrapper = kmsKeyWrapper({ keyId: keys.keyArn });
    const otherwise =
      "a key that is not one of this account's KMS keys: give `keys` the key that belongs to this store";
    return { storage: recordKeysetStorage({ records, wrapper, otherwise }), close: () => wrapper.close() };
  }
  return { storage: localKeysetStorage({ store, keys }, records), close: () => undefined };
}

function localKeysetStorage(
  { store, keys }: Pick<Config, "store"> & { readonly keys: Exclude<Config["keys"], { kind: "kms" }> },
  records: RecordStore,
): KeysetStorage {
  // With a table there are other machines: a file this one made would open nothing of theirs.
  if (keys.kind === "file") return fileKeysetStorage({ path: keys.path, create: store.kind !== "dynamodb" });
  if (store.kind === "memory") return memoryKeysetStorage();
  if (store.kind === "dynamodb") throw new TypeError("a table has no key file beside it: config/keyset-place.ts");
  // The key file lies beside the database: a copy of one without the other opens nothing.
  return recordKeysetStorage({
    records,
    wrapper: localKeyWrapper({ path: `${store.path}.key` }),
    otherwise: "another key file: restore the key file that belongs to this store",
  });
}
