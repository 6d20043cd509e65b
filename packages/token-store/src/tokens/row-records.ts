/**
 * TokenRecords over rows: reads a row and asks the mode which half is valid, seals what must be
 * sealed, and makes every write conditional on what was read. Above it: token-records.ts, the
 * operations. Below: storage/, token-sealing.ts.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import { LRUCache } from "lru-cache";
import { TokenStoreError, type TokenStoreErrorCode } from "../errors.ts";
import type { Mode } from "./mode.ts";
import {
  applied,
  expectAsRead,
  isExpired,
  markOf,
  nextMark,
  LINK_VERSION,
  linkVersionOf,
  nextLinkVersion,
} from "./row-conditions.ts";
import { type Attributes, type Row, type RowChange, rowId } from "../storage/token-rows.ts";
import {
  COPY_ATTRIBUTES,
  copyAttributes,
  copyOf,
  isSealed,
  LEASE_ATTRIBUTES,
  type ModeName,
  rowKeyOf,
  SEALED_NAMES,
  type SealedHalf,
  sealedHalfOf,
  statusOf,
  versionOf,
} from "./token-attributes.ts";
import { type CurrentRecord, recordOf, type TokenRecords, type TokenRecordsOptions } from "./token-records.ts";
import { type Content, openHalf, type Place, sealHalf } from "./token-sealing.ts";
import {
  detailsText,
  holdsTokens,
  isForeign,
  PLAIN_DETAILS,
  SIGN_IN_ATTRIBUTES,
  signInAttributes,
  signInOf,
} from "./link-attributes.ts";
import type { SignIn, StoredTokens, TokenKey, TokenSet, TokenStatus } from "./tokens.ts";
import { keptChanging, untilUnchanged } from "./tries.ts";

/**
 * The highest version seen of each row is remembered, as far as one process can. An attacker who can
 * write the table may restore an old row, which is valid in every bit; no encryption shows that.
 * Across processes it stays undetected: docs/exceptions.md.
 */
const MOST_VERSIONS = 10_000;

export function createTokenRecords(options: TokenRecordsOptions): TokenRecords {
  const { rows, dataKeys, mode, environment, now, onEvent = () => undefined } = options;
  // By size, because room for a `max` is taken at once.
  const seenVersions = new LRUCache<string, number>({ maxSize: MOST_VERSIONS, sizeCalculation: () => 1 });

  const place = (key: TokenKey, signIn: SignIn | undefined): Place => {
    return { environment, table: rows.table, key: rowKeyOf(key), issuer: key.issuer, signIn };
  };

  const requireReadable = (attributes: Attributes): void => {
    if (dataKeys === undefined && isSealed(attributes)) {
      throw new TokenStoreError("unreadable", { detail: "the row is sealed: set TOKEN_ENCRYPTION_KMS_KEY_ID" });
    }
  };

  /** Both halves of a row, opened. */
  const open = async (key: TokenKey, { key: rowKey, attributes }: Row): Promise<Halves> => {
    requireReadable(attributes);
    const half = sealedHalfOf(attributes);
    const copy = copyOf(attributes);
    if (half === undefined || dataKeys === undefined) return copy === undefined ? {} : { copy };
    const opened = await openHalf(half, place(key, signInOf(attributes)), { dataKeys });
    const id = rowId(rowKey);
    const highest = seenVersions.get(id) ?? 0;
    seenVersions.set(id, Math.max(highest, half.version));
    //= bar#TS-19
    if (half.version < highest) onEvent({ name: "version_went_back", vendor: key.vendor });
    return { ...opened, ...defined({ copy }) };
  };

  /** The sealed half of a row as a change; without data keys it is empty, only the count. */
  const sealed = async (
    key: TokenKey,
    content: Content,
    row: Pick<SealedHalf, "version" | "mark"> & Pick<Place, "signIn">,
  ): Promise<RowChange> => {
    const { link } = content.tokens;
    if (dataKeys === undefined) {
      const details = link === undefined ? {} : { [PLAIN_DETAILS]: detailsText(link, content.tokens) };
      return { set: { version: row.version, ...details } };
    }
    const set = await sealHalf(content, row, place(key, row.signIn), { dataKeys });
    return { set, remove: SEALED_NAMES.filter((name) => !Object.hasOwn(set, name)) };
  };

  /** New tokens in a row: sealed, the copy written or removed, no lease. */
  const withTokens = async (
    { key, attributes }: { readonly key: TokenKey; readonly attributes: Attributes },
    content: Content,
  ): Promise<RowChange> => {
    const at = now();
    const mark = nextMark(attributes, mode.name);
    const { signIn } = key;
    const half = await sealed(key, content, { version: versionOf(attributes) + 1, mark, signIn });
    const made = signInAttributes(signIn);
    const next = { ...half.set, ...made };
    const left = [...SIGN_IN_ATTRIBUTES, PLAIN_DETAILS].filter((name) => hasNoMore(name, attributes, next));
    const copy = mode.writesCopy(markOf(attributes)) ? copyAttributes(content.tokens, at) : {};
    const noCopy = COPY_ATTRIBUTES.filter((name) => !Object.hasOwn(copy, name));
    return {
      set: { ...next, ...copy, status: "active", written_at: at },
      remove: [...(half.remove ?? []), ...noCopy, ...left, ...LEASE_ATTRIBUTES],
    };
  };

  /**
   * The tokens of a record sealed again, with the row unchanged since it was read. The copy is
   * kept, or removed.
   */
  const again = async (
    over: CurrentRecord,
    { version, mark, status }: { readonly version: number; readonly mark: ModeName; readonly status?: TokenStatus },
  ): Promise<CurrentRecord | undefined> => {
    const { attributes } = over.row;
    const { stored, previous } = over;
    const place = { version, mark, signIn: signInOf(attributes) };
    const half = await sealed(over.key, { tokens: stored.tokens, ...defined({ previous }) }, place);
    const change: RowChange = {
      set: { ...half.set, written_at: stored.writtenAt, ...defined({ status }) },
      remove: [
        ...(half.remove ?? []),
        ...(mark === "encrypted" ? COPY_ATTRIBUTES : []),
        ...[PLAIN_DETAILS].filter((name) => hasNoMore(name, attributes, half.set)),
        // A refresh of the previous tokens is fenced out by the version, so no caller needs to wait
        // for it.
        ...(version === versionOf(attributes) ? [] : LEASE_ATTRIBUTES),
      ],
    };
    const expected = expectAsRead(attributes, ["version", "status", "data_key", ...COPY_ATTRIBUTES]);
    if ((await rows.change(over.row.key, change, expected)) === "conflict") return undefined;
    return recordOf(over.key, applied(over.row, change), { tokens: stored.tokens, previous });
  };

  /**
   * @returns `changed` when the row had to be sealed first and another writer changed it in the
   *   meantime
   */
  const readOnce = async (key: TokenKey): Promise<CurrentRecord | "changed" | undefined> => {
    const row = await rows.get(rowKeyOf(key));
    if (row === undefined || isExpired(row.attributes, now()) || isForeign(row.attributes, key)) return undefined;
    const { tokens: fromSealed, previous, copy } = await open(key, row);
    if (fromSealed === undefined && copy === undefined) return undefined;
    const { attributes } = row;
    const { tokens, reseal, finding } = mode.choose({ sealed: fromSealed, copy } as Parameters<Mode["choose"]>[0]);
    if (finding !== undefined) onEvent({ name: finding, vendor: key.vendor });
    if (reseal) {
      if (dataKeys === undefined) return recordOf(key, row, { tokens });
      // Other tokens than those a refresh may be working on, hence another version; and the user
      // has authorized again.
      const status = statusOf(attributes) === "revoked" ? "revoked" : "active";
      const version = versionOf(attributes) + 1;
      const mark = nextMark(attributes, mode.name);
      const { updated_at: writtenAt } = attributes;
      const current = recordOf(key, row, { tokens });
      const stored = { ...current.stored, writtenAt: typeof writtenAt === "number" ? writtenAt : now() };
      return (await again({ ...current, stored }, { version, mark, status })) ?? "changed";
    }
    const current = recordOf(key, row, { tokens, previous });
    return isStale(attributes) ? ((await rewrapped(current)) ?? current) : current;
  };

  const replace = (key: TokenKey, tokens: TokenSet, over?: number): Promise<StoredTokens | "conflict"> => {
    const rowKey = rowKeyOf(key);
    return untilUnchanged(async () => {
      const { attributes } = (await rows.get(rowKey)) ?? { attributes: {} };
      const isOver = over === undefined || over === linkVersionOf(attributes, now());
      if (!isOver || isForeign(attributes, key)) return "conflict";
      // A sealed row is never replaced by an unsealed one.
      requireReadable(attributes);
      const { set, remove = [] } = await withTokens({ key, attributes }, { tokens });
      const linked = key.signIn === undefined ? {} : { [LINK_VERSION]: nextLinkVersion(attributes) };
      const change = { set: { ...set, ...linked }, remove: [...remove, "ttl"] };
      const expected = expectAsRead(attributes, ["version", ...(key.signIn === undefined ? [] : LINK_CONDITIONS)]);
      if ((await rows.change(rowKey, change, expected)) === "conflict") return "changed";
      return recordOf(key, applied({ key: rowKey, attributes }, change), { tokens }).stored;
    });
  };

  const isStale = ({ data_key: wrapped }: Attributes): boolean =>
    typeof wrapped === "string" && dataKeys?.isStale(wrapped) === true;

  const reseal: TokenRecords["reseal"] = (over, { link, mark = markOf(over.row.attributes) ?? mode.name }) => {
    const { stored } = over;
    const tokens = { ...stored.tokens, ...defined({ link }) };
    return again({ ...over, stored: { ...stored, tokens } }, { version: stored.version, mark });
  };

  /** Best effort: the tokens that were read are valid either way. */
  //= bar#TS-14
  const rewrapped = async (current: CurrentRecord): Promise<CurrentRecord | undefined> => {
    const done = await reseal(current, {}).catch(() => undefined);
    if (done !== undefined) onEvent({ name: "rewrapped", vendor: current.key.vendor });
    return done;
  };

  return {
    read: (key) => translated(() => untilUnchanged(() => readOnce(key).catch(throwUnreadable))),
    replace: (key, tokens) =>
      translated(async () => {
        const stored = await replace(key, tokens);
        if (stored === "conflict") throw keptChanging();
        return stored;
      }),
    replaceLink: (key, tokens, over) => translated(() => replace(key, tokens, over)),
    note: async (over, { lease, status }) => {
      const leased =
        lease === undefined || lease === null
          ? {}
          : { lease_owner: lease.owner, lease_until: lease.until, lease_attempt: lease.attemptId };
      const change: RowChange = {
        set: { ...leased, ...defined({ status }) },
        remove: lease === null ? LEASE_ATTRIBUTES : [],
      };
      const expected = expectAsRead(over.row.attributes, ["version", "status", ...LEASE_ATTRIBUTES]);
      if ((await rows.change(over.row.key, change, expected)) === "conflict") return undefined;
      const { tokens } = over.stored;
      return recordOf(over.key, applied(over.row, change), { tokens, previous: over.previous });
    },
    seal: ({ key, row }, tokens, previous) =>
      translated(async () => {
        const { attributes } = row;
        const change = await withTokens({ key, attributes }, { tokens, ...defined({ previous }) });
        // If an older writer's change is accepted, it must not be overwritten unread either.
        const names = ["version", "status", "lease_owner", ...(mode.heedsCopy ? COPY_ATTRIBUTES : [])];
        return { key: row.key, change, expected: expectAsRead(attributes, names) };
      }),
    //= bar#RV-4
    commit: ({ key, change, expected }) => rows.change(key, change, expected),
    reseal: (over, change) => translated(() => reseal(over, change)),
    deleteRevoked: async (key) => {
      const row = await rows.get(rowKeyOf(key));
      if (row === undefined || statusOf(row.attributes) !== "revoked" || !holdsTokens(row.attributes)) return;
      // Authorized again in the meantime: those are other tokens.
      const removed = await rows.delete(row.key, expectAsRead(row.attributes, ["version", "status"]));
      // A new row may start over.
      if (removed === "deleted") seenVersions.delete(rowId(row.key));
    },
  };
}

/** An attribute of the row that the next one must not have. */
function hasNoMore(name: string, attributes: Attributes, next: Attributes): boolean {
  return Object.hasOwn(attributes, name) && !Object.hasOwn(next, name);
}

/** A link may end without another version of its tokens. */
const LINK_CONDITIONS = ["status", LINK_VERSION, ...SIGN_IN_ATTRIBUTES];

type Halves = Partial<Content> & { readonly copy?: TokenSet };

/**
 * Tokens that an older build stored and that exceed the limits of a row: the caller gets the error
 * of a row that cannot be read.
 */
function throwUnreadable(error: unknown): never {
  const isOdd = error instanceof TokenStoreError && (error.code === "too_large" || error.code === "input_invalid");
  throw isOdd ? new TokenStoreError("unreadable", { cause: error, detail: error.message }) : error;
}

/** A row or a key file that does not open is a 503 to the caller's user, never a fallback. */
//= bar#TS-7
async function translated<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!(error instanceof TokenStoreError)) throw error;
    const outage = OUTAGES.get(error.code);
    if (outage === undefined) throw error;
    const { reason, message } = outage;
    throw new OAuthError("temporarily_unavailable", message, { reason, cause: error, detail: error.message });
  }
}

const UNREADABLE = { reason: "token_unreadable", message: "The stored tokens cannot be opened" };
const NO_KEYS = { reason: "keys_unavailable", message: "The keys of the stored tokens are not available" };
const OUTAGES: ReadonlyMap<TokenStoreErrorCode, { readonly reason: string; readonly message: string }> = new Map([
  ["unreadable", UNREADABLE],
  ["format_unknown", UNREADABLE],
  ["key_file_unavailable", NO_KEYS],
  ["key_file_invalid", NO_KEYS],
]);
