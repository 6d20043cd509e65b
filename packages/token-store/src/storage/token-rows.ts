/**
 * The table of token rows as a port: rows of pk, sk and attributes, changed by one conditional
 * write at a time. Separate from RecordStore because older readers know this table's attributes by
 * name (docs/storage-schema.md), so a row is a row here and not a document. Adapters:
 * storage/memory/token-rows.ts, storage/sqlite/token-rows.ts, storage/dynamodb/token-rows.ts; all
 * pass `describeTokenRows`.
 */

/** Names a row: partition key and sort key, both not empty. */
export interface RowKey {
  readonly pk: string;
  readonly sk: string;
}

/** The key as one text, another for every row. */
export function rowId({ pk, sk }: RowKey): string {
  return `${pk.length}:${pk}${sk}`;
}

/**
 * DynamoDB's S and N. Attributes of other types belong to another program: they are neither
 * returned nor changed.
 */
export type Attribute = string | number;
export type Attributes = Readonly<Record<string, Attribute>>;

/** A row as it is stored: its key, and every attribute that is text or a number. */
export interface Row {
  readonly key: RowKey;
  readonly attributes: Attributes;
}

/**
 * Attributes in `set` are replaced, those in `remove` dropped, all others stay: they may be another
 * release's.
 */
export interface RowChange {
  readonly set: Attributes;
  readonly remove?: readonly string[];
}

/**
 * Every attribute named must be this value or, if `undefined`, be absent. An absent row has no
 * attributes.
 */
export type Expected = Readonly<Record<string, Attribute | undefined>>;

/** All methods throw OAuthError `temporarily_unavailable` when the engine does not respond. */
export interface TokenRows {
  /** The table's name: part of what every sealed field is bound to. */
  readonly table: string;
  /** Strongly consistent: the refresh path decides by it. */
  get(key: RowKey): Promise<Row | undefined>;
  /**
   * One atomic conditional write; creates the row when it is missing.
   *
   * @returns `written` exactly when this call wrote, even if the engine's first answer to it was
   *   lost
   */
  change(key: RowKey, change: RowChange, expected: Expected): Promise<"written" | "conflict">;
  /** Conditional like `change`. A missing row is `deleted` when `expected` requires nothing. */
  delete(key: RowKey, expected: Expected): Promise<"deleted" | "conflict">;
  /** All rows of one user, strongly consistent, in the order of `sk`. */
  partition(pk: string): Promise<readonly Row[]>;
  /**
   * Walks the whole table, page by page, in no guaranteed order. Rows written in the meantime may
   * be missed.
   */
  scan(options: { readonly limit: number; readonly cursor?: string }): Promise<RowPage>;
  /**
   * Erases what deleted rows and replaced attributes left in the engine's own files. Absent when
   * the engine keeps none.
   *
   * @returns false while some of it is in use by another process
   */
  eraseFreed?(): Promise<boolean>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface RowPage {
  readonly rows: readonly Row[];
  /** Where the next page starts: a string that may be written to a file. Absent at the end. */
  readonly cursor?: string;
}
