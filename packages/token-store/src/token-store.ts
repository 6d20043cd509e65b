/**
 * The token store as servers use it: one user's tokens at one vendor, stored sealed, read fresh.
 * Its parts are connected here, once; config.ts builds it from the environment.
 */
import type { Clock, KeyContext, KeyWrapper, Timer } from "@oauth-broker/oauth-core";
import { createDataKeys } from "./keys/data-keys.ts";
import { modeNamed } from "./modes/mode-choice.ts";
import { createLinks, type Links } from "./links.ts";
import { declareOlderReaders } from "./modes/older-readers.ts";
import type { JournalEvent } from "./refresh/journal.ts";
import type { Refresh, RefreshEvent } from "./refresh/context.ts";
import { createRefreshLeases, type RefreshLeasesOptions, type RefreshOptions } from "./refresh/refresh.ts";
import { createTokenRecords } from "./tokens/row-records.ts";
import type { TokenRows } from "./storage/token-rows.ts";
import type { ModeName } from "./tokens/token-attributes.ts";
import type { RecordEvent } from "./tokens/token-records.ts";
import type { StoredTokens, TokenKey, TokenSet } from "./tokens/tokens.ts";

/** The table, the keys and the mode that a token store is made of. */
export interface TokenStoreOptions {
  readonly rows: TokenRows;
  /**
   * Absent in mode `bridge` only: nothing is encrypted then, which is reported as `no_encryption`.
   */
  readonly keys?: (KeyWrapper & { close?(): void }) | undefined;
  readonly mode: ModeName;
  /**
   * What every token is bound to, in addition to the table: rows of another environment do not open
   * here.
   */
  readonly environment: string;
  readonly now: Clock;
  readonly timer: Timer;
  /** Receives the events worth counting. Never holds a token or a user. */
  readonly onEvent?: (event: TokenStoreEvent) => void;
  readonly refresh?: RefreshLeasesOptions;
}

/** What is worth counting or logging. Holds neither a token nor a user. */
export type TokenStoreEvent =
  | RecordEvent
  | RefreshEvent
  | JournalEvent
  /** Mode `bridge` without a key: every token is stored as plaintext. */
  | { readonly name: "no_encryption" };

/**
 * All methods throw OAuthError `temporarily_unavailable`, with the reason `store_unavailable`,
 * `record_in_use`, `kms_unavailable` or `token_unreadable`. Whatever fails, no plaintext is written
 * or read that the mode does not permit.
 */
export interface TokenStore extends Links {
  readonly mode: ModeName;
  /** @returns undefined when the user has no tokens, or they were revoked */
  get(key: TokenKey): Promise<StoredTokens | undefined>;
  /**
   * After an authorization: replaces the stored tokens.
   *
   * @throws TokenStoreError too_large, input_invalid
   */
  put(key: TokenKey, tokens: TokenSet): Promise<StoredTokens>;
  /**
   * Tokens ready for use: refreshed first when they are near their end, by one caller over all
   * processes.
   *
   * @param refresh asks the vendor; called at most once for a version of the tokens, and only by
   *   the holder of the lease
   * @returns undefined when the user has no tokens, or they were revoked
   * @throws OAuthError invalid_grant, reason `reauthorization_required`; what `refresh` threw when
   *   the old token has expired
   */
  withRefreshLease(key: TokenKey, refresh: Refresh, options?: RefreshOptions): Promise<StoredTokens | undefined>;
  ping(): Promise<void>;
  /**
   * Waits for refreshes under way, and for responses not yet stored, as long as `drainMs` (default
   * 10,000).
   */
  close(drainMs?: number): Promise<void>;
}

const DRAIN_MS = 10_000;

/** @throws TokenStoreError key_missing in mode `encrypted` without keys */
export function createTokenStore(options: TokenStoreOptions): TokenStore {
  const { rows, keys, environment, now, timer, onEvent = () => undefined } = options;
  const mode = modeNamed(options.mode, { hasKeys: keys !== undefined });
  const context = dataKeyContext({ environment, table: rows.table });
  const dataKeys = keys === undefined ? undefined : createDataKeys({ keys, context, now, timer });
  const records = createTokenRecords({ rows, dataKeys, mode, environment, now, onEvent });
  const leases = createRefreshLeases(options.refresh ?? {}, { records, now, timer, onEvent });
  const declaration = mode.heedsCopy ? declareOlderReaders({ rows, now, timer }) : undefined;
  void leases.replayJournal();
  if (dataKeys === undefined) onEvent({ name: "no_encryption" });

  return {
    mode: mode.name,
    get: async (key) => {
      const current = await records.read(key);
      return current?.stored.status === "revoked" ? undefined : current?.stored;
    },
    put: records.replace,
    withRefreshLease: leases.withRefreshLease,
    ...createLinks({ records, rows, now }),
    ping: () => rows.ping(),
    close: async (drainMs = DRAIN_MS) => {
      declaration?.stop();
      await leases.drain(drainMs);
      dataKeys?.close();
      keys?.close?.();
      await rows.close();
    },
  };
}

/**
 * The context of every data key of a table: constant, so that rows can share keys. It names no
 * user.
 */
//= bar#TS-4
export function dataKeyContext(where: { readonly environment: string; readonly table: string }): KeyContext {
  return { purpose: "token-store", environment: where.environment, table: where.table };
}
