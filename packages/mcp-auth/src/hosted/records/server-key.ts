/**
 * The key from which PKCE #2, nonces, token tags and the MACs of records are derived: random,
 * created once for a table or folder by the first process, and read by all others, again and again:
 * processes beside an emptied or restored table have to agree on one key.
 *
 * It is stored in one record, sealed under a data key of the store's KeyWrapper. Without one, in
 * mode `bridge` without a KMS key, it is stored unsealed, like the tokens. A process with a wrapper
 * does not accept such a key: a reader of the table knows it, and a writer of the table may have
 * planted it. With the operator's consent, a new key replaces it.
 */
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  defined,
  hmac,
  type JsonObject,
  type KeyContext,
  type KeyWrapper,
  OAuthError,
  type RecordKey,
  type RecordStore,
  type StoredRecord,
} from "@oauth-broker/oauth-core";
import { authenticatedRecords, deriveKey, oneMacKey, open, seal, TokenStoreError } from "@oauth-broker/token-store";

/** The purposes of derived keys. A value made for one purpose is invalid for another. */
export type ServerKeyPurpose =
  | "vendor-pkce"
  | "vendor-nonce"
  | "token-tag"
  | "record-mac"
  | "user-sessions"
  | "client-slots"
  | "request-state"
  | "mcp-session"
  | "ticket"
  | "ticket-index"
  | "sign-in"
  | "sign-in-ends"
  | "linking-form"
  | "link-question"
  | "parked-tokens";

export interface ServerKey {
  /**
   * 32 bytes, the same in every process.
   *
   * @throws OAuthError temporarily_unavailable when it cannot be read now
   */
  derive(purpose: ServerKeyPurpose): Promise<Buffer>;
}

export interface StoredServerKey extends ServerKey {
  /**
   * Reads the record again. One that another process wrote is used from now on; if the
   * record is missing, the key of this process is stored again.
   *
   * @throws OAuthError as derive; the key stays as it was
   */
  reload(): Promise<"unchanged" | "changed" | "restored">;
}

const KEY: RecordKey = { kind: "server-key", id: "server" };
const SERVER_KEY_BYTES = 32;
const PLACE = ["server-key"];
/** The key outlives every plausible clock; 2255-03-14. */
export const NEVER = 9_000_000_000;
/**
 * Another process may create or seal the record at the same moment; a third change is not expected.
 */
const TRIES = 3;

export interface ServerKeyOptions {
  readonly records: RecordStore;
  /** What the key is sealed under; undefined only when the store encrypts nothing. */
  readonly keys: KeyWrapper | undefined;
  /** Environment and table, so that the record opens nowhere else. */
  readonly context: KeyContext;
  /**
   * `ADOPT_UNSEALED_SERVER_KEY`: a key that is unsealed although there are `keys` is replaced by a
   * new, sealed one.
   */
  readonly adoptUnsealed?: boolean;
}

/** The key as it was read, with the fields it is stored in: the same fields need no unwrapping again. */
interface Held {
  readonly key: Buffer;
  readonly fields: JsonObject;
  readonly derived: Map<ServerKeyPurpose, Buffer>;
}

/**
 * Reads nothing yet: the first `derive` does, and the key is cached until `reload`. A failure is not
 * cached: the next call tries again.
 */
export function createServerKey(options: ServerKeyOptions): StoredServerKey {
  let held: Held | undefined;
  let reading: Promise<Held> | undefined;
  const read = (): Promise<Held> => {
    reading ??= readOrMake(options, held)
      .then((found) => (held = found))
      .catch((error: unknown) => {
        throw asOAuthError(error);
      })
      .finally(() => (reading = undefined));
    return reading;
  };
  return {
    async derive(purpose) {
      const { key, derived } = held ?? (await read());
      const known = derived.get(purpose) ?? deriveKey(key, `server-key ${purpose}`);
      derived.set(purpose, known);
      return known;
    },
    async reload() {
      const before = held;
      const after = await read();
      if (before === undefined || after === before) return "unchanged";
      return after.key.equals(before.key) ? "restored" : "changed";
    },
  };
}

export interface ServerRecordsOptions extends ServerKeyOptions {
  /**
   * Called with the kind of every row that was not written under the server key, or was changed
   * since.
   */
  readonly onRefused?: (kind: string) => void;
}

export interface ServerRecords {
  readonly serverKey: StoredServerKey;
  /** Every record but that of the server key itself. */
  readonly records: RecordStore;
}

/**
 * Every record but the server key's carries a MAC under that key: write access to the table alone
 * cannot turn one user into another.
 *
 * @param options.records the table or file as stored
 */
export function createServerRecords({ onRefused, ...options }: ServerRecordsOptions): ServerRecords {
  const serverKey = createServerKey(options);
  const keys = oneMacKey(() => serverKey.derive("record-mac"));
  const { records } = options;
  return {
    serverKey,
    records: authenticatedRecords({ records, keys, ...defined({ onRefused }) }),
  };
}

async function readOrMake(options: ServerKeyOptions, held: Held | undefined): Promise<Held> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const record = await options.records.get(KEY);
    if (held !== undefined && record !== undefined && isDeepStrictEqual(record.data, held.fields)) return held;
    const found = record === undefined ? await make(options, held?.key) : await read(record, options);
    if (found !== undefined) return { ...found, derived: new Map() };
  }
  throw keyUnavailable("the record of the server key kept changing");
}

type Found = Omit<Held, "derived">;

/** @returns undefined when another process was faster: its key is used */
async function make(
  options: ServerKeyOptions,
  key: Buffer = randomBytes(SERVER_KEY_BYTES),
): Promise<Found | undefined> {
  const { stage, data } = await sealKey(key, options);
  const fields = { v: 1, ...data };
  const made = await options.records.create({ key: KEY, stage, data: fields, expiresAt: NEVER });
  return made === "created" ? { key, fields } : undefined;
}

/** @returns undefined when another process replaced the key in the meantime */
async function read({ stage, data: fields }: StoredRecord, options: ServerKeyOptions): Promise<Found | undefined> {
  const { v, key: plain, wrapped, sealed } = fields;
  const { keys, records } = options;
  if (v === 1 && stage === "sealed" && typeof wrapped === "string" && typeof sealed === "string") {
    if (keys === undefined) throw keyUnavailable("the server key is sealed, and no key to open it is set");
    const key = open(await keys.unwrap(wrapped, serverKeyContext(options.context)), sealed, PLACE);
    return { key: requireLength(key), fields };
  }
  if (v !== 1 || stage !== "plain" || typeof plain !== "string") {
    throw keyUnavailable("the record of the server key is not of a format this release knows");
  }
  if (keys === undefined) return { key: requireLength(Buffer.from(plain, "base64url")), fields };
  const key = keyInPlaceOfUnsealed(options.adoptUnsealed === true);
  const { stage: next, data: set } = await sealKey(key, options);
  const moved = await records.advance(KEY, { stage, expect: { key: plain } }, { stage: next, set, remove: ["key"] });
  return moved.outcome === "moved" ? { key, fields: { v: 1, ...set } } : undefined;
}

/**
 * For a key that is unsealed although there is one to seal it: every reader of the table knows it,
 * and a writer of the table may have planted it.
 *
 * @param adoptUnsealed the operator's consent, `ADOPT_UNSEALED_SERVER_KEY`
 * @returns the new key that replaces it, so that everything made or forged under the
 *   unsealed key becomes invalid
 * @throws OAuthError temporarily_unavailable without that consent
 */
export function keyInPlaceOfUnsealed(adoptUnsealed: boolean): Buffer {
  //= bar#TS-7
  if (adoptUnsealed) return randomBytes(SERVER_KEY_BYTES);
  throw keyUnavailable(
    "the server key is not sealed although a key to seal it is set: if that key is new, start once with " +
      "ADOPT_UNSEALED_SERVER_KEY=true, which ends all sessions; if it is not, another party wrote the table",
  );
}

async function sealKey(key: Buffer, options: ServerKeyOptions): Promise<{ readonly stage: string; data: JsonObject }> {
  if (options.keys === undefined) return { stage: "plain", data: { key: key.toString("base64url") } };
  const { dataKey, wrapped } = await options.keys.newDataKey(serverKeyContext(options.context));
  return { stage: "sealed", data: { wrapped, sealed: seal(dataKey, key, PLACE) } };
}

/**
 * A name that does not reveal what it is made of, the same in every process; with another server key
 * it is another.
 */
export async function derivedName(
  purpose: ServerKeyPurpose,
  of: readonly unknown[],
  { serverKey }: { readonly serverKey: ServerKey },
): Promise<string> {
  return hmac("sha256", await serverKey.derive(purpose), JSON.stringify(of)).toString("base64url");
}

/** @param context of the store: its environment and table */
export function serverKeyContext(context: KeyContext): KeyContext {
  return { ...context, purpose: "server-key" };
}

function requireLength(key: Buffer): Buffer {
  if (key.length !== SERVER_KEY_BYTES) throw keyUnavailable(`the server key has ${key.length} bytes`);
  return key;
}

/** An outage keeps its own error code. */
function asOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const { code, detail } = error instanceof TokenStoreError ? error : {};
  if (code === "unreadable") {
    const why = detail ?? "it was sealed under another key, or for another table";
    return keyUnavailable(`the server key cannot be opened: ${why}`, error);
  }
  const reason = error instanceof Error ? error.message : "unknown";
  const lost = "If it is lost, delete the SQLite file beside it: the links and sessions in it cannot be opened";
  return keyUnavailable(code === "key_file_unavailable" ? `${reason}. ${lost}` : reason, error);
}

function keyUnavailable(detail: string, cause?: unknown): OAuthError {
  return new OAuthError("temporarily_unavailable", "The server key cannot be opened", {
    reason: "keys_unavailable",
    detail,
    ...defined({ cause }),
  });
}
