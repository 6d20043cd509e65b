import { randomUUID } from "node:crypto";
import { link, open, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file under another name first, for this user alone, so that it appears whole or not at
 * all. A power loss undoes neither its content nor its name once this returns.
 *
 * @param place gives the draft its name: `rename` of node:fs replaces a file of this name,
 *   `linkOnce` leaves it
 * @returns what `place` returns
 * @throws Error of node:fs
 */
export async function writeWhole<Placed>(
  path: string,
  text: string,
  place: (draft: string, path: string) => Promise<Placed>,
): Promise<Placed> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
    const placed = await place(draft, path);
    await syncFolder(dirname(path));
    return placed;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * A hard link fails when the name exists: of two processes that start at once, one makes the file.
 *
 * @returns whether it is ours
 * @throws Error of node:fs
 */
export async function linkOnce(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}

/** Not every system supports it. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Windows cannot open a folder; the file itself is already synced.
  }
}
