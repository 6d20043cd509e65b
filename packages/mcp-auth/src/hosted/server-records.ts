/**
 * What hosted mode keeps beside its users' tokens: the server key, and every other record under a MAC of that key, so that write
 * access to the table alone makes nobody another user. For hosted.ts and the operator's commands.
 */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { authenticatedRecords } from "@oauth-broker/token-store";
import { createServerKey, type ServerKeyOptions } from "./server-key-record.ts";
import type { ServerKey } from "./server-key.ts";

export interface ServerRecordsOptions extends ServerKeyOptions {
  /** Told of the kind of every row that was not written under the server key, or was changed since. */
  readonly onRefused?: (kind: string) => void;
}

export interface ServerRecords {
  readonly serverKey: ServerKey;
  /** Everything but the record of the server key itself. */
  readonly records: RecordStore;
}

/** @param options.records the table or file as it is */
export function createServerRecords({ onRefused, ...options }: ServerRecordsOptions): ServerRecords {
  const serverKey = createServerKey(options);
  const key = (): Promise<Buffer> => serverKey.derive("record-mac");
  const { records } = options;
  return {
    serverKey,
    records: authenticatedRecords({ records, key, ...(onRefused === undefined ? {} : { onRefused }) }),
  };
}
