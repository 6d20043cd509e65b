/**
 * The materials of projects, beside this command: the template's files, and the packed packages
 * they depend on. Built from the repository by make-materials.ts; part of the published package.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Materials {
  readonly folder: string;
  /** The version of the core, and of this command. */
  readonly version: string;
  /**
   * Where a project's `@oauth-broker` packages come from: its own `packed/`, while no registry has
   * them, or the registry, by version.
   */
  readonly core: "packed" | "registry";
  /** What the core runs on, as in `engines`: `>=24.15`. */
  readonly node: string;
  /** The exact versions of the public packages a project is developed with. */
  readonly tools: Readonly<Record<string, string>>;
}

/** Below a materials folder. */
export const TEMPLATE = "template";
export const SEVERAL_VENDORS = "several-vendors";
export const PACKED = "packed";
export const ABOUT = "about.json";

/** @throws Error of node:fs */
export function readMaterials(folder: string): Materials {
  const about = JSON.parse(readFileSync(join(folder, ABOUT), "utf8")) as Omit<Materials, "folder">;
  return { ...about, folder };
}
