/**
 * Where the keyset document is stored: a sealed record in the store (the default), or a file of the
 * operator. stores.ts decides which of them, and what seals it; keyset-binding.ts says what it is
 * bound to. A write replaces only the version that was read, so that of two concurrent rotations
 * none is lost.
 */
import { createHash, randomUUID } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import {
  type JsonObject,
  type KeyContext,
  type KeyWrapper,
  makeFolder,
  OAuthError,
  type RecordKey,
  type RecordStore,
} from "@oauth-broker/oauth-core";
import { canonicalJson, linkOnce, open, seal, TokenStoreError, writeWhole } from "@oauth-broker/token-store";
import { IF_KEY_FILE_IS_LOST, keysUnavailable } from "./keys-unavailable.ts";
import { bindingOf, isSamePlace, type KeysetPlace, nameOf, requireSameBaseUrl, UNBOUND } from "./keyset-binding.ts";

export interface StoredKeyset {
  /** The version of exactly this content: a write replaces it. */
  readonly tag: string;
  /** Grows with every write. 0: made by release 0.1.0 and not bound yet. */
  readonly revision: number;
  readonly text: string;
}

export interface KeysetStorage {
  /**
   * @param options.adopt also opens a keyset that belongs to another place; only the operator's
   *   command sets it
   * @throws OAuthError temporarily_unavailable, with a detail that says what to do
   */
  read(options?: { readonly adopt: boolean }): Promise<StoredKeyset | undefined>;
  /**
   * @param over the version to replace, or undefined for the first write
   * @returns false when another process wrote first
   */
  write(over: Pick<StoredKeyset, "tag"> | undefined, next: Omit<StoredKeyset, "tag">): Promise<boolean>;
  /**
   * Asks for the data key that the first write needs, and writes nothing, except the key file
   * if it is missing. Absent if nothing seals.
   *
   * @throws OAuthError as `write`
   */
  requireKey?(): Promise<void>;
}

/** Later than any clock a process may have, so that the record never expires; 2255-03-14. */
const NEVER = 9_000_000_000;
const KEY: RecordKey = { kind: "keyset", id: "broker" };

/**
 * One record, sealed under a fresh data key of `wrapper` at every write. A reader of the store
 * without the wrapper learns nothing. An unchanged record is not opened again, so a reload makes no
 * call to the key service.
 */
export function recordKeysetStorage({
  records,
  place,
  wrapper,
  otherwise,
}: {
  readonly records: RecordStore;
  readonly place: KeysetPlace;
  /** Wraps the data key. */
  readonly wrapper: KeyWrapper;
  /** The advice when it cannot unwrap one: ends the sentence "the keyset was sealed under …". */
  readonly otherwise: string;
}): KeysetStorage {
  let known: { readonly id: string; readonly text: string } | undefined;
  const newDataKey = (context: KeyContext): ReturnType<KeyWrapper["newDataKey"]> =>
    wrapper.newDataKey(context).catch((error: unknown) => {
      throw explained(error, otherwise);
    });
  return {
    async read({ adopt } = { adopt: false }) {
      const record = await records.get(KEY);
      if (record === undefined) return undefined;
      const tag = record.stage;
      const { revision, wrapped, sealed, belongsTo } = sealedKeysetOf(record.data);
      const id = idOf(tag, record.data);
      if (known?.id !== id) {
        const { context, fields } = belongsTo === undefined ? UNBOUND : bindingOf(adopt ? belongsTo : place, revision);
        const text = await wrapper
          .unwrap(wrapped, context)
          .then((dataKey) => open(dataKey, sealed, fields).toString("utf8"))
          .catch((error: unknown) => {
            const isForeign = !adopt && belongsTo !== undefined && !isSamePlace(belongsTo, place);
            throw isForeign && !(error instanceof OAuthError)
              ? elsewhere({ revision, belongsTo }, place)
              : explained(error, otherwise);
          });
        if (adopt) return { tag, revision, text };
        known = { id, text };
      }
      return { tag, revision, text: known.text };
    },
    async write(over, { text, revision }) {
      const { context, fields } = bindingOf(place, revision);
      const { dataKey, wrapped } = await newDataKey(context);
      const sealed = seal(dataKey, text, fields);
      const data = { v: 2, revision, ...place, wrapped, sealed };
      const stage = randomUUID();
      const isOurs =
        over === undefined
          ? (await records.create({ key: KEY, stage, data, expiresAt: NEVER })) === "created"
          : (await records.advance(KEY, { stage: over.tag, expect: {} }, { stage, set: data })).outcome === "moved";
      if (isOurs) known = { id: idOf(stage, data), text };
      return isOurs;
    },
    requireKey: async () => {
      await newDataKey(bindingOf(place, 1).context);
    },
  };
}

interface SealedKeyset {
  readonly revision: number;
  readonly wrapped: string;
  readonly sealed: string;
  /** What the record claims; only opening it proves that. Absent: format 1, bound to nothing. */
  readonly belongsTo: KeysetPlace | undefined;
}

function sealedKeysetOf({ v, revision, baseUrl, environment, table, wrapped, sealed }: JsonObject): SealedKeyset {
  if (typeof wrapped === "string" && typeof sealed === "string") {
    if (v === 1) return { revision: 0, wrapped, sealed, belongsTo: undefined };
    const isPlace = typeof baseUrl === "string" && typeof environment === "string" && typeof table === "string";
    if (v === 2 && isPlace && isRevision(revision)) {
      return { revision, wrapped, sealed, belongsTo: { baseUrl, environment, table } };
    }
  }
  throw keysUnavailable("the keyset record is not of a format this release knows");
}

function isRevision(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** The whole record: any change to it makes the cached content invalid. */
function idOf(tag: string, data: JsonObject): string {
  return canonicalJson([tag, data]);
}

/** Keeps the error of an outage. Every other error that keeps the keys closed says what to do. */
function explained(error: unknown, otherwise: string): OAuthError {
  if (error instanceof OAuthError) return error;
  if (!(error instanceof TokenStoreError)) return keysUnavailable("the keyset cannot be opened", error);
  if (error.code === "key_file_unavailable") return keysUnavailable(`${error.message}. ${IF_KEY_FILE_IS_LOST}`, error);
  const isShut = error.code === "unreadable" || error.code === "format_unknown";
  return keysUnavailable(isShut ? `the keyset was sealed under ${otherwise}` : error.message, error);
}

function elsewhere(
  { revision, belongsTo }: { readonly revision: number; readonly belongsTo: KeysetPlace },
  place: KeysetPlace,
): OAuthError {
  return keysUnavailable(
    `the keyset belongs to ${nameOf(belongsTo)}, and this broker is ${nameOf(place)}. Give each a separate store. ` +
      `If base_url or store was changed, or the store was restored here, on purpose: main.js keys adopt ${revision}`,
  );
}

/**
 * A JSON file, mode 0600, replaced by rename. The operator rotates by hand and from one place at a
 * time. The file is not sealed: `base_url` and `revision` are beside the keys. It is copied
 * between machines, so it is bound to no store.
 *
 * @param options.create `false`: a missing file is not created, because the operator must copy it
 *   there. Default `true`
 */
export function fileKeysetStorage({
  path,
  baseUrl,
  create = true,
}: {
  readonly path: string;
  readonly baseUrl: string;
  readonly create?: boolean;
}): KeysetStorage {
  const read: KeysetStorage["read"] = async ({ adopt } = { adopt: false }) => {
    const content = await contentOf(path);
    if (content === undefined) return undefined;
    const { base_url: belongsTo, revision = 0, ...keys } = parsed(content, path);
    if (revision !== 0 && !isRevision(revision)) {
      throw keysUnavailable(`the revision in ${path} is no whole number: write the one into it that was in use`);
    }
    if (!adopt && belongsTo !== undefined) requireSameBaseUrl(belongsTo, baseUrl, revision);
    const tag = createHash("sha256").update(content).digest("base64url");
    return { tag, revision, text: JSON.stringify(keys) };
  };
  const write: KeysetStorage["write"] = async (over, { text, revision }) => {
    makeFolder(dirname(path), { mode: 0o700 });
    const content = JSON.stringify({ ...parsed(text, path), base_url: baseUrl, revision });
    if (over === undefined) return writeWhole(path, content, linkOnce);
    return writeWhole(path, content, async (draft) => {
      if ((await read({ adopt: true }))?.tag !== over.tag) return false;
      await rename(draft, path);
      return true;
    });
  };
  return {
    read,
    async write(over, next) {
      if (over === undefined && !create)
        throw keysUnavailable("the keyset file is missing: copy the one that the others have");
      try {
        return await write(over, next);
      } catch (cause) {
        if (cause instanceof OAuthError) throw cause;
        throw keysUnavailable(`the keyset file ${path} cannot be written`, cause);
      }
    },
  };
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw keysUnavailable(`the keyset file ${path} cannot be read`, cause);
  }
}

/** Drops the engine's own error, which quotes the text: it holds keys. */
function parsed(text: string, path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The error below replaces it.
  }
  throw keysUnavailable(`${path} is not a keyset file`);
}

/** For the memory store: the keys live and die with the process, like everything else in it. */
export function memoryKeysetStorage(): KeysetStorage {
  let stored: StoredKeyset | undefined;
  return {
    read: async () => stored,
    write: async (over, next) => {
      if (stored?.tag !== over?.tag) return false;
      stored = { tag: randomUUID(), ...next };
      return true;
    },
  };
}
