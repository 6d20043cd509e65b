/**
 * The materials of projects, beside this command: the template's files, and the packed packages
 * they depend on. Built from the repository by make-materials.ts; part of the published package.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Materials {
  readonly folder: string;
  /** Of the packed core, and of this command. */
  readonly version: string;
  readonly versions: Versions;
}

/** Of public packages, exact, by their place in package.json. */
export interface Versions {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** Below a materials folder. */
export const TEMPLATE = "template";
export const PACKED = "packed";
export const ABOUT = "about.json";

/** The packages that are packed. */
export const PACKAGES = ["oauth-core", "token-store", "mcp-auth", "simulators"] as const;

/** @throws Error of node:fs */
export function readMaterials(folder: string): Materials {
  const about = JSON.parse(readFileSync(join(folder, ABOUT), "utf8")) as Omit<Materials, "folder">;
  return { ...about, folder };
}
