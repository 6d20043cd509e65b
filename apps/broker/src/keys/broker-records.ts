/**
 * The broker's records, as its flows see them: each carries a MAC under the keyset, so that a writer
 * of the store without the keys forges and alters none (docs/decisions/0032). Only the keyset itself
 * lies outside, sealed: keyset-storage.ts.
 */
import { defined, type RecordStore } from "@oauth-broker/oauth-core";
import { authenticatedRecords, type MacKeys } from "@oauth-broker/token-store";
import { keysUnavailable } from "./keys-unavailable.ts";
import type { Keyset } from "./keyset.ts";

const PURPOSE = "record-mac";

export interface BrokerRecordsOptions {
  /** The store as it is. */
  readonly records: RecordStore;
  readonly keyset: Pick<Keyset, "active" | "describe" | "find">;
  /** Called with the kind of every row that was not written under the keyset, or was changed since. */
  readonly onRefused?: (kind: string) => void;
}

/**
 * Its methods throw temporarily_unavailable until the keyset is loaded, and for a row under a key
 * that this process does not have: with a key file, another machine may have rotated.
 */
//= bar#TS-3
export function brokerRecords({ records, keyset, onRefused }: BrokerRecordsOptions): RecordStore {
  const keys: MacKeys = {
    active: async () => keyset.active(PURPOSE),
    find: async (kid) => {
      const key = await keyset.find(PURPOSE, kid);
      if (key !== undefined || kid === "" || keyset.describe().some((generation) => generation.kid === kid)) return key;
      throw keysUnavailable("the keyset lacks the key of a record");
    },
  };
  return authenticatedRecords({ records, keys, ...defined({ onRefused }) });
}
