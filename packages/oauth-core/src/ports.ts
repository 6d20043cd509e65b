/**
 * Everything the core needs from outside, as small interfaces: time, waiting, outbound calls,
 * records, keys. Adapters live in packages/token-store and egress/index.ts; their shared tests in
 * testing/.
 */

/**
 * Whole seconds since 1970-01-01T00:00:00Z, the NumericDate of rfc7519#2. Also what DynamoDB TTL
 * requires.
 */
export type EpochSeconds = number;

/** The only source of time in logic. Production: `systemClock`. Tests pass `fixedClock`. */
export type Clock = (() => EpochSeconds) & {
  /**
   * The same time in milliseconds, for an order within one second. Absent: the clock has whole
   * seconds alone.
   */
  readonly milliseconds?: () => number;
};

/**
 * Waiting, and time that only grows, apart from the wall clock. Production: `systemTimer`. Tests
 * pass one whose time they move.
 */
export interface Timer {
  /**
   * @param options.background does not keep the process alive
   * @param options.jitter between half and one and a half times as long: callers that arrived
   *   together do not return together
   */
  sleep(ms: number, options?: { readonly background?: boolean; readonly jitter?: boolean }): Promise<void>;
  /** Milliseconds since some fixed moment. */
  elapsedMs(): number;
  /** @returns a signal that fires after that time, and does not keep the process alive */
  timeout(ms: number): AbortSignal;
  /**
   * Acts after that time.
   *
   * @param options.background does not keep the process alive
   * @returns cancels it
   */
  after(ms: number, act: () => void, options?: { readonly background?: boolean }): () => void;
}

/** The web's fetch. In product code always the one of egress/index.ts. */
export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** What JSON can say (RFC 8259). */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object (RFC 8259 §4). */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/**
 * `kind` names the record type ("flow", "refresh", "assertion", "keyset"); `id` is unique within
 * it.
 */
export interface RecordKey {
  readonly kind: string;
  readonly id: string;
}

/** One record of a RecordStore, with the two times that end it. */
export interface StoredRecord {
  readonly key: RecordKey;
  /**
   * The record's position in its life cycle; `advance` moves it from one named stage to the next.
   */
  readonly stage: string;
  readonly data: JsonObject;
  /** From this second on `advance`, `create` and a plain `get` treat the record as absent. */
  readonly expiresAt: EpochSeconds;
  /** From this second on housekeeping may delete the row. At least `expiresAt`. */
  readonly keepUntil: EpochSeconds;
}

/** A record to create. Without `keepUntil` its row may be deleted as soon as it expires. */
export type NewRecord = Omit<StoredRecord, "keepUntil"> & { readonly keepUntil?: EpochSeconds };

/** The stage a record must be in, and the top-level data fields that must equal these strings. */
export interface From {
  readonly stage: string;
  readonly expect: Readonly<Record<string, string>>;
}

/**
 * Top-level fields in `set` are replaced whole, those in `remove` are dropped, all others are kept.
 */
export interface Patch {
  readonly stage: string;
  readonly set: JsonObject;
  readonly remove?: readonly string[];
  readonly expiresAt?: EpochSeconds;
}

/**
 * The outcome of one conditional write.
 * - `moved`: this call, and no other, moved the record; `record` is the record after the write.
 * - `replayed`: a live record with the expected fields exists but is in another stage; `record` is
 *   that record.
 * - `absent`: no record, a record that has expired, or one whose fields differ. A caller without
 *   the secret fields cannot distinguish them.
 */
export type Advanced =
  | { readonly outcome: "moved"; readonly record: StoredRecord }
  | { readonly outcome: "replayed"; readonly record: StoredRecord }
  | { readonly outcome: "absent" };

/**
 * Single-use objects and leases. Every adapter passes `describeRecordStore` (testing/). A custom
 * store must seal sensitive fields itself before it writes: this port stores what it is given. All
 * methods throw OAuthError `temporarily_unavailable` when the database does not respond.
 */
export interface RecordStore {
  /**
   * @param options.includeExpired also returns records past `expiresAt` that have not been deleted
   *   yet
   */
  get(key: RecordKey, options?: { readonly includeExpired?: boolean }): Promise<StoredRecord | undefined>;
  /** Atomic. An expired record of the same key is replaced. */
  create(record: NewRecord): Promise<"created" | "exists">;
  /**
   * One atomic conditional write: of any number of parallel calls with the same `from`, at most one
   * is `moved`.
   */
  advance(key: RecordKey, from: From, patch: Patch): Promise<Advanced>;
  delete(key: RecordKey): Promise<void>;
  /**
   * Resolves when the database responds, otherwise throws `temporarily_unavailable`. For readiness
   * probes.
   */
  ping(): Promise<void>;
  /** Releases files and timers. */
  close(): Promise<void>;
}

/**
 * Names what a data key is for; constant for the life of the key, and authenticated by the wrapper.
 */
export type KeyContext = Readonly<Record<string, string>>;

/** Makes and opens data keys under a root the process does not choose: KMS, or a local key file. */
export interface KeyWrapper {
  /**
   * @returns a fresh 32-byte key and its wrapped form, a base64url string that only `unwrap` opens
   */
  newDataKey(context: KeyContext): Promise<{ readonly dataKey: Buffer; readonly wrapped: string }>;
  /** @throws Error when the wrapped key was altered, or made for another context or root */
  unwrap(wrapped: string, context: KeyContext): Promise<Buffer>;
  /**
   * Whether `newDataKey` would now use another root key than the one this was wrapped under. Absent
   * when there is only one root.
   */
  isStale?(wrapped: string): boolean;
}
