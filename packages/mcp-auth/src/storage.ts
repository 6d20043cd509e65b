/**
 * What hosted mode keeps, opened from the environment, with what happens in it told to the log. The token-store package does
 * the opening; here is only what a server makes of it.
 */
import type { Clock } from "@oauth-broker/oauth-core";
import type { Log, LogFields } from "@oauth-broker/oauth-core/service";
import {
  type OpenTokenStoreOptions,
  openServerStorage,
  type ServerStorage,
  type TokenStoreEvent,
} from "@oauth-broker/token-store";

export type Storage = ServerStorage;

export interface StorageOptions extends Pick<OpenTokenStoreOptions, "mode" | "environment"> {
  readonly now: Clock;
  readonly log: Log;
}

/** The course of things, a migration from older readers included; every other event is worth a look. */
const ORDINARY: ReadonlySet<TokenStoreEvent["name"]> = new Set<TokenStoreEvent["name"]>([
  "refreshed",
  "reauthorize",
  "orphan_settled",
  "rewrapped",
  "plaintext_only",
  "copy_changed",
]);

/** @throws TokenStoreError for settings that contradict each other, and a key that may not be used */
export async function openStorage({ now, log, ...options }: StorageOptions): Promise<Storage> {
  return openServerStorage({ ...options, now, onEvent: (event) => tell(event, log) });
}

function tell(event: TokenStoreEvent, log: Log): void {
  const fields: LogFields = {
    vendor: "vendor" in event ? event.vendor : undefined,
    error: "code" in event ? event.code : undefined,
    reason: "reason" in event ? event.reason : undefined,
    file: "path" in event ? event.path : undefined,
  };
  if (ORDINARY.has(event.name)) log.info(event.name, fields);
  else log.warn(event.name, fields);
}
