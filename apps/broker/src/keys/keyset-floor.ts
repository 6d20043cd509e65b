/**
 * The lowest revision of the keyset that this broker accepts. An attacker with write access to the
 * store can put an older keyset back, which would restore a key that was rotated away. The floor
 * therefore lies outside the store: in the configuration (`keys_min_revision`), in a file beside
 * the key file, and in this process. keyset.ts checks it before every read and raises it after.
 */
import { readFile, rename } from "node:fs/promises";
import { writeWhole } from "@oauth-broker/token-store";
import { keysUnavailable } from "./keys-unavailable.ts";

export type RevisionFloor = ReturnType<typeof createRevisionFloor>;

/**
 * @param options.file absent without a key file to be beside: then only the configuration survives
 *   the process
 */
export function createRevisionFloor({
  minimum = 0,
  file,
}: { readonly minimum?: number | undefined; readonly file?: string | undefined } = {}) {
  let seen = 0;
  /** The floor that survives a restart. */
  const kept = async (): Promise<number> => Math.max(minimum, file === undefined ? 0 : await revisionIn(file));
  return {
    kept,
    /** @throws OAuthError temporarily_unavailable when the file exists and holds no revision */
    lowest: async () => Math.max(seen, await kept()),
    /** Best effort: the file system may be read-only. The process remembers the floor in any case. */
    raise: async (revision: number): Promise<void> => {
      seen = Math.max(seen, revision);
      if (file !== undefined && seen > (await kept()))
        await writeWhole(file, `${seen}\n`, rename).catch(() => undefined);
    },
  };
}

//= bar#TS-19
/** @throws OAuthError temporarily_unavailable, with a detail that names the command to run */
export function requireRevision(revision: number, lowest: number): void {
  //= bar#TS-19
  if (revision >= lowest) return;
  throw keysUnavailable(
    `the keyset is of revision ${revision}, and ${lowest} was in use: an older one was put back, which undoes a rotation. ` +
      `Restore the newer one. If you restored a backup on purpose: main.js keys adopt ${revision}`,
  );
}

/**
 * Checks an empty storage: a writer of the store can delete the keyset, and a restore can leave
 * it out. A new keyset would end every connection without a word.
 * @throws OAuthError temporarily_unavailable, with a detail that names the command to run
 */
//= bar#TS-19
export function requireNoneInUse(lowest: number): void {
  //= bar#TS-19
  if (lowest === 0) return;
  throw keysUnavailable(
    `the keyset is gone, and one of revision ${lowest} was in use. Restore it with its store. ` +
      `If it is lost: main.js keys new, which ends every connection`,
  );
}

async function revisionIn(file: string): Promise<number> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return "0";
    throw keysUnavailable(`${file} cannot be read: it holds the lowest revision of the keyset`, cause);
  });
  // The line end of an editor, too.
  if (/^\d{1,15}$/.test(text.trim())) return Number(text);
  throw keysUnavailable(`${file} holds no revision: write the one into it that was in use`);
}
