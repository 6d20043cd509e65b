/**
 * Whether a project may be written to a folder: new or empty, and not inside this repository, whose
 * workspace would include it.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";

/**
 * @param folder as given
 * @param place.from what it is relative to
 * @param place.repository absent in the published command
 * @returns the end of a sentence, or undefined
 */
export function checkFolder(
  folder: string,
  { from, repository }: { readonly from: string; readonly repository: string | undefined },
): string | undefined {
  const path = resolve(from, folder);
  if (repository !== undefined && isInside(realPath(path), realPath(repository))) {
    return `is inside this repository: choose one outside, such as ../${path.split(/[/\\]/).at(-1) ?? "my-server"}`;
  }
  try {
    return readdirSync(path).length === 0 ? undefined : "is not empty";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") return "is a file, or is below one";
    return `cannot be read (${code ?? "unknown"})`;
  }
}

/** Without links, as far as it exists. */
function realPath(path: string): string {
  const parent = dirname(path);
  if (existsSync(path) || parent === path) return realpathSync(path);
  return resolve(realPath(parent), relative(parent, path));
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!isAbsolute(way) && way.split(/[/\\]/)[0] !== "..");
}
