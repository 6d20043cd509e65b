/**
 * A user's tokens as a record: its operations, each one conditional write. row-records.ts
 * implements them over rows; token-store.ts, refresh/refresh.ts and cli/ use them.
 */
import { defined } from "@oauth-broker/oauth-core";
import type { Clock, EpochSeconds } from "@oauth-broker/oauth-core";
import type { DataKeys } from "../keys/data-keys.ts";
import type { Finding, Mode } from "./mode.ts";
import type { Expected, Row, RowChange, RowKey, TokenRows } from "../storage/token-rows.ts";
import { COPY_ATTRIBUTES, type ModeName, statusOf, versionOf } from "./token-attributes.ts";
import type { Previous } from "./token-sealing.ts";
import type { LinkDetails, StoredTokens, TokenKey, TokenSet, TokenStatus } from "./tokens.ts";

/** Who may refresh a record, until when, and in which attempt. */
export interface Lease {
  readonly owner: string;
  readonly until: EpochSeconds;
  readonly attemptId: string;
}

/** A record as it was read: its tokens, and the row that conditions compare with. */
export interface CurrentRecord {
  readonly key: TokenKey;
  readonly stored: StoredTokens;
  readonly lease?: Lease;
  readonly previous?: Previous;
  readonly row: Row;
}

/** A prepared commit: plain JSON that needs no key service any more, so that it can be repeated. */
export interface SealedChange {
  readonly key: RowKey;
  readonly change: RowChange;
  readonly expected: Expected;
}

export interface RecordEvent {
  /**
   * - `rewrapped`: its data key was wrapped under a root key no longer in use; it has a new key now
   * - `version_went_back`: older than a version seen before; an old row was restored
   */
  readonly name: Finding | "rewrapped" | "version_went_back";
  readonly vendor: string;
}

export interface TokenRecordsOptions {
  readonly rows: TokenRows;
  /** Absent only in mode `bridge`: then nothing is sealed, and a sealed row cannot be read. */
  readonly dataKeys: DataKeys | undefined;
  readonly mode: Mode;
  /** What every sealed field is bound to, in addition to the table. */
  readonly environment: string;
  readonly now: Clock;
  readonly onEvent?: (event: RecordEvent) => void;
}

/**
 * All methods throw OAuthError temporarily_unavailable, reason `store_unavailable`,
 * `record_in_use`, `kms_unavailable` or `token_unreadable`.
 */
export interface TokenRecords {
  /**
   * Consistent. A row whose copy is valid is sealed before its tokens are returned.
   *
   * @returns undefined for a missing row, one past its `ttl`, or one made under another sign-in
   */
  read(key: TokenKey): Promise<CurrentRecord | undefined>;
  /**
   * A new authorization. Replaces the row, readable or not; a refresh under way is fenced out.
   *
   * @throws TokenStoreError too_large, input_invalid; OAuthError temporarily_unavailable, reason
   *   `record_in_use`, also for a row made under another sign-in
   */
  replace(key: TokenKey, tokens: TokenSet): Promise<StoredTokens>;
  /**
   * The same over one link version.
   *
   * @returns `conflict` over any other, and for a row made under another sign-in
   */
  replaceLink(key: TokenKey, tokens: TokenSet, over: number): Promise<StoredTokens | "conflict">;
  /**
   * Bookkeeping only, while version, status and lease are as in `over`.
   *
   * @param note.lease `null` gives it back
   * @returns undefined when they are not
   */
  note(
    over: CurrentRecord,
    note: { readonly lease?: Lease | null; readonly status?: TokenStatus },
  ): Promise<CurrentRecord | undefined>;
  /**
   * Seals the next version. The caller holds the lease in `over`.
   * @throws TokenStoreError too_large, input_invalid
   */
  seal(over: CurrentRecord, tokens: TokenSet, previous?: Previous): Promise<SealedChange>;
  /**
   * Writes it while version, status and lease owner are those it was sealed over, and ends the
   * lease.
   */
  commit(change: SealedChange): Promise<"written" | "conflict">;
  /**
   * Seals the same tokens again, with other details or under another mark; under the mark
   * `encrypted` their copy is removed.
   *
   * @returns undefined when the row has changed
   */
  reseal(
    over: CurrentRecord,
    change: { readonly mark?: ModeName; readonly link?: LinkDetails },
  ): Promise<CurrentRecord | undefined>;
  /** A revoked row, readable or not. One that was replaced in the meantime stays. */
  deleteRevoked(key: Pick<TokenKey, "user" | "vendor">): Promise<void>;
}

/** Builds the record of a row from its tokens. */
export function recordOf(
  key: TokenKey,
  row: Row,
  { tokens, previous }: { readonly tokens: TokenSet; readonly previous?: Previous | undefined },
): CurrentRecord {
  const { attributes } = row;
  const { lease_owner: owner, lease_until: until, lease_attempt: attemptId } = attributes;
  const isLeased = typeof owner === "string" && typeof until === "number" && typeof attemptId === "string";
  const written = attributes["written_at"] ?? attributes["updated_at"];
  return {
    key,
    stored: {
      tokens,
      status: statusOf(attributes),
      version: versionOf(attributes),
      writtenAt: typeof written === "number" ? written : 0,
    },
    ...(isLeased ? { lease: { owner, until, attemptId } } : {}),
    ...defined({ previous }),
    row,
  };
}

/**
 * The change without plaintext, for a file: the copy is left out, and not compared.
 *
 * @returns undefined when nothing in it is sealed
 */
export function withoutCopy({ key, change, expected }: SealedChange): SealedChange | undefined {
  if (!Object.hasOwn(change.set, "data_key")) return undefined;
  const isCopy = (name: string): boolean => COPY_ATTRIBUTES.some((copy) => copy === name);
  const rest = <Value>(all: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !isCopy(name)));
  const remove = new Set([...(change.remove ?? []), ...COPY_ATTRIBUTES]);
  return { key, change: { set: rest(change.set), remove: [...remove] }, expected: rest(expected) };
}
