/**
 * A copy of the repository for mutations, so that the checkout is never touched. Installed packages
 * are linked: those of the root as a whole, those of a workspace one by one, which keeps the links
 * between workspaces inside the copy.
 */
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, sep } from "node:path";

export interface WorkingCopy {
  readonly root: string;
  read(path: string): string;
  write(path: string, text: string): void;
  remove(): void;
}

/** Recreated when needed, or useless in a copy. */
const LEFT_OUT: ReadonlySet<string> = new Set([".git", "dist", "coverage", "data", ".turbo", ".vite"]);

/** @param top what of its root is copied; default: all of it */
export function copyRepository(source: string, top?: readonly string[]): WorkingCopy {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "oauth-broker-mutate-")));
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  try {
    cpSync(source, root, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => {
        const [first = ""] = relative(source, path).split(sep);
        const isLeftOut = relative(source, path) === "node_modules" || LEFT_OUT.has(basename(path));
        return !isLeftOut && (first === "" || top === undefined || top.includes(first));
      },
    });
    symlinkSync(realpathSync(join(source, "node_modules")), join(root, "node_modules"), "junction");
  } catch (error) {
    remove();
    throw error;
  }
  return {
    root,
    read: (path) => readFileSync(join(root, path), "utf8"),
    write: (path, text) => writeFileSync(join(root, path), text),
    remove,
  };
}
