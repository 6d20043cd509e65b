/**
 * The storage of hosted mode, opened from the environment, with its events written to the log. The
 * token-store package opens it; this file adds what is specific to a server.
 */
import type { Clock } from "@oauth-broker/oauth-core";
import type { Log, LogFields } from "@oauth-broker/service";
import {
  type OpenTokenStoreOptions,
  openServerStorage,
  type ServerStorage,
  type TokenStoreEvent,
} from "@oauth-broker/token-store";

export type Storage = ServerStorage;

export interface StorageOptions extends Pick<OpenTokenStoreOptions, "mode" | "environment" | "onTiming"> {
  readonly now: Clock;
  readonly log: Log;
}

/**
 * Normal events, including a migration from older readers; every other event deserves attention.
 */
const ORDINARY: ReadonlySet<TokenStoreEvent["name"]> = new Set<TokenStoreEvent["name"]>([
  "refreshed",
  "reauthorize",
  "orphan_settled",
  "rewrapped",
  "plaintext_only",
  "copy_changed",
]);

/**
 * @throws TokenStoreError for settings that contradict each other, and a key that may not be used
 */
export async function openStorage({ now, log, ...options }: StorageOptions): Promise<Storage> {
  return openServerStorage({ ...options, now, onEvent: (event) => logEvent(event, log) });
}

function logEvent(event: TokenStoreEvent, log: Log): void {
  const fields: LogFields = {
    vendor: "vendor" in event ? event.vendor : undefined,
    error: "code" in event ? event.code : undefined,
    reason: "reason" in event ? event.reason : undefined,
    file: "path" in event ? event.path : undefined,
    count: "count" in event ? event.count : undefined,
  };
  if (ORDINARY.has(event.name) || fields.count === 0) log.info(event.name, fields);
  else log.warn(event.name, fields);
}
