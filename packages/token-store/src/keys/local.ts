/**
 * A KeyWrapper whose root is a key file on this machine, for a deployment without a key service.
 * The broker wraps its keyset with it; without this file nothing in the store can be opened. The
 * file is read at the first use, not at construction, so that a missing disk does not stop the
 * process.
 */
import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type KeyContext, type KeyWrapper, makeFolder } from "@oauth-broker/oauth-core";
import { open, seal } from "../crypto/envelope.ts";
import { KEY_BYTES } from "../crypto/aes-gcm.ts";
import { TokenStoreError } from "../errors.ts";
import { keyOfWrapped } from "./kms-wrapped.ts";
import { linkOnce, writeWhole } from "../storage/write-whole.ts";

/** Line 1 of every key file; line 2 is the key, 32 bytes as base64url. */
const HEADER = "oauth-broker key file 1";
const LARGEST_FILE_BYTES = 1024;

/** Which key file, and whether it may be made. */
export interface LocalKeyWrapperOptions {
  /** Where the key file is, or will be created. */
  readonly path: string;
  /** `false`: the file must have been provisioned; a missing one is an error. Default `true`. */
  readonly create?: boolean;
}

/** Facts about the key file that are reported to the operator. */
export interface LocalKeyFile {
  /** Absolute. */
  readonly path: string;
  /** This process has just created it: the moment to ask for a backup. */
  readonly created: boolean;
  /**
   * Its mode lets the group or others read it. Used all the same (a mounted secret may look like
   * this), but worth a warning.
   */
  readonly readableByOthers: boolean;
}

/** A KeyWrapper whose root key is a file on this machine. */
export interface LocalKeyWrapper extends KeyWrapper {
  /**
   * Reads or creates the key file now, as the first newDataKey does. The first unwrap reads it.
   *
   * @throws TokenStoreError key_file_invalid, key_file_unavailable
   */
  load(): Promise<LocalKeyFile>;
}

/**
 * Data keys under a key file. Only what seals makes the file: something to open was sealed under an
 * earlier file, and a file made now would take the place of that one. Methods throw
 * TokenStoreError: `key_file_unavailable` (retried at the next call), `key_file_invalid` (not one of
 * our key files, wrong length), and `unreadable` for a wrapped key of another file or context.
 */
export function localKeyWrapper({ path, create = true }: LocalKeyWrapperOptions): LocalKeyWrapper {
  const file = resolve(path);
  let loading: Promise<Loaded> | undefined;
  const loaded = (make: boolean): Promise<Loaded> => {
    loading ??= loadKey(file, make).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    load: async () => (await loaded(create)).file,
    newDataKey: async (context) => {
      const { root } = await loaded(create);
      const dataKey = randomBytes(KEY_BYTES);
      return { dataKey, wrapped: seal(root, dataKey, sealContext(context)) };
    },
    unwrap: async (wrapped, context) => {
      const kms = keyOfWrapped(wrapped)?.arn;
      // No file is missing then: that one is lost would be wrong advice.
      if (kms !== undefined)
        throw new TokenStoreError("unreadable", { detail: `${kms} sealed it, and no KMS key is set` });
      const { root } = await loaded(false);
      const dataKey = open(root, wrapped, sealContext(context));
      if (dataKey.length !== KEY_BYTES) throw new TokenStoreError("unreadable");
      return dataKey;
    },
  };
}

interface Loaded {
  readonly root: Buffer;
  readonly file: LocalKeyFile;
}

async function loadKey(path: string, create: boolean): Promise<Loaded> {
  try {
    const created = create && (await missing(path)) && (await makeKeyFile(path));
    const status = await stat(path);
    const { mode, size } = status;
    // A device or a pipe may have no end.
    if (!status.isFile() || size > LARGEST_FILE_BYTES) throw new TokenStoreError("key_file_invalid", { detail: path });
    const root = parseKeyFile(await readFile(path, "utf8"), path);
    return { root, file: { path, created, readableByOthers: (mode & 0o044) !== 0 } };
  } catch (cause) {
    if (cause instanceof TokenStoreError) throw cause;
    throw new TokenStoreError("key_file_unavailable", { detail: path, cause });
  }
}

async function missing(path: string): Promise<boolean> {
  return (await stat(path).catch((error: NodeJS.ErrnoException) => error.code)) === "ENOENT";
}

/** @returns whether the file is ours, not that of a faster process */
async function makeKeyFile(path: string): Promise<boolean> {
  makeFolder(dirname(path), { mode: 0o700 });
  const text = `${HEADER}\n${randomBytes(KEY_BYTES).toString("base64url")}\n`;
  return writeWhole(path, text, linkOnce);
}

function parseKeyFile(text: string, path: string): Buffer {
  const [header, encoded = "", ...rest] = text.trimEnd().split(/\r?\n/);
  if (header !== HEADER)
    throw new TokenStoreError("key_file_invalid", { detail: `${path} does not begin with "${HEADER}"` });
  const key = Buffer.from(encoded, "base64url");
  if (rest.length > 0 || key.length !== KEY_BYTES || key.toString("base64url") !== encoded) {
    throw new TokenStoreError("key_file_invalid", {
      detail: `line 2 of ${path} is not ${KEY_BYTES} bytes in base64url`,
    });
  }
  return key;
}

//= bar#TS-4
/** Sorted by name, so that the order of a context's members does not matter. */
function sealContext(context: KeyContext): string[] {
  const names = Object.keys(context).toSorted();
  return ["wrapped data key", ...names.flatMap((name) => [name, context[name] ?? ""])];
}
