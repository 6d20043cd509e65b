/**
 * Where the keyset document lies: a sealed record in the store (the default), or a file of the operator's. Which of them,
 * and sealed by what, is stores.ts.
 * Both answer a revision with what they read, and write only over that revision, so two rotations cannot lose one.
 */
import { createHash, randomUUID } from "node:crypto";
import { chmod, link, mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type KeyWrapper, OAuthError, type RecordKey, type RecordStore } from "@oauth-broker/oauth-core";
import { open, seal, TokenStoreError } from "@oauth-broker/token-store";

export interface KeysetStorage {
  read(): Promise<{ readonly revision: string; readonly text: string } | undefined>;
  /** @param over the revision being replaced, or undefined for the first write. @returns false when another was faster */
  write(over: string | undefined, text: string): Promise<boolean>;
}

/** Keys outlive every clock a process may have; 2255-03-14. */
const NEVER = 9_000_000_000;
const KEY: RecordKey = { kind: "keyset", id: "broker" };
const CONTEXT = { purpose: "keyset" };

/** What wraps the data key of the keyset, and what to do when it does not open one. */
export interface KeysetSealing {
  readonly wrapper: KeyWrapper;
  /** Ends the sentence "the keyset was sealed under …"; for the operator. */
  readonly otherwise: string;
}

/**
 * One record, sealed under a fresh data key of `wrapper` at every write. A store reader without the wrapper learns nothing.
 * What was opened once is not opened again while the record stays as it is: a reload asks the key service for nothing.
 */
export function recordKeysetStorage({
  records,
  wrapper,
  otherwise,
}: KeysetSealing & { records: RecordStore }): KeysetStorage {
  let known: { readonly revision: string; readonly sealed: string; readonly text: string } | undefined;
  return {
    async read() {
      const record = await records.get(KEY);
      if (record === undefined) return undefined;
      const revision = record.stage;
      const { v, wrapped, sealed } = record.data;
      if (v !== 1 || typeof wrapped !== "string" || typeof sealed !== "string") {
        throw keysUnavailable("the keyset record is not of a format this release knows");
      }
      if (known?.revision !== revision || known.sealed !== sealed) {
        const opened = await wrapper
          .unwrap(wrapped, CONTEXT)
          .then((dataKey) => open(dataKey, sealed, ["keyset"]).toString("utf8"))
          .catch((error: unknown) => {
            throw explained(error, otherwise);
          });
        known = { revision, sealed, text: opened };
      }
      return { revision, text: known.text };
    },
    async write(over, text) {
      const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT).catch((error: unknown) => {
        throw explained(error, otherwise);
      });
      const sealed = seal(dataKey, text, ["keyset"]);
      const data = { v: 1, wrapped, sealed };
      const stage = randomUUID();
      const isOurs =
        over === undefined
          ? (await records.create({ key: KEY, stage, data, expiresAt: NEVER })) === "created"
          : (await records.advance(KEY, { stage: over, expect: {} }, { stage, set: data })).outcome === "moved";
      if (isOurs) known = { revision: stage, sealed, text };
      return isOurs;
    },
  };
}

/** An outage keeps its own name; whatever else keeps the keys shut says what to do about it. */
function explained(error: unknown, otherwise: string): OAuthError {
  if (error instanceof OAuthError) return error;
  if (!(error instanceof TokenStoreError)) return keysUnavailable("the keyset cannot be opened", error);
  const isShut = error.code === "unreadable" || error.code === "format_unknown";
  return keysUnavailable(isShut ? `the keyset was sealed under ${otherwise}` : error.message, error);
}

function keysUnavailable(detail: string, cause?: unknown): OAuthError {
  return new OAuthError("temporarily_unavailable", "The keys cannot be opened", {
    reason: "keys_unavailable",
    detail,
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * A JSON file, mode 0600, replaced by rename. Rotation is an operator's act: run it from one place at a time.
 *
 * @param options.create `false`: a missing file is not made; who has a copy of it must bring it. Default `true`
 */
export function fileKeysetStorage({ path, create = true }: { path: string; create?: boolean }): KeysetStorage {
  const read: KeysetStorage["read"] = async () => {
    try {
      const text = await readFile(path, "utf8");
      return { revision: createHash("sha256").update(text).digest("base64url"), text };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new OAuthError("temporarily_unavailable", "The keys cannot be read", {
        reason: "keys_unavailable",
        cause,
        detail: "keyset file",
      });
    }
  };
  return {
    read,
    async write(over, text) {
      if (over === undefined && !create)
        throw keysUnavailable("there is no keyset file: bring the one the others have");
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomUUID()}`;
      await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
      try {
        if (over === undefined) return await linkOnce(temporary, path);
        if ((await read())?.revision !== over) return false;
        await chmod(temporary, 0o600);
        await rename(temporary, path);
        return true;
      } finally {
        await unlink(temporary).catch(() => undefined);
      }
    },
  };
}

/** For the memory store: the keys live and die with the process, like everything else there. */
export function memoryKeysetStorage(): KeysetStorage {
  let stored: { revision: string; text: string } | undefined;
  return {
    read: async () => stored,
    write: async (over, text) => {
      if (stored?.revision !== over) return false;
      stored = { revision: randomUUID(), text };
      return true;
    },
  };
}

/** A hard link fails where the name exists: of two processes that start at once, one makes the keyset. */
async function linkOnce(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}
