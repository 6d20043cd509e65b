import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder and those above it that are missing, one by one; one that exists is kept as it is.
 * Instead of Node's `recursive`, which never returns if a folder exists and nothing can be made
 * in it, as in /proc.
 *
 * @param options.mode of each folder made, default that of the process
 * @throws the file system's own error
 */
export function makeFolder(path: string, options: { readonly mode?: number } = {}): void {
  const folder = resolve(path);
  try {
    makeOne(folder, options);
  } catch (error) {
    const isParentMissing = (error as NodeJS.ErrnoException).code === "ENOENT" && dirname(folder) !== folder;
    if (!isParentMissing) throw error;
    makeFolder(dirname(folder), options);
    makeOne(folder, options);
  }
}

/** Another process may make the same folder at once. */
function makeOne(folder: string, options: { readonly mode?: number }): void {
  try {
    mkdirSync(folder, options);
  } catch (error) {
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
