/**
 * The oldest Node.js of this machine that is 20 or newer: the version that a platform's backend may
 * still have. Tests themselves run on the pinned one, which is first on PATH. `NODE_20_PATH` names
 * another.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const MAJOR = 20;
const USUAL = ["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin"];

export type OldNode = ReturnType<typeof versionOf>[number];
/** There is always one: the pinned one when the machine has none older. */
export function oldestNode(): OldNode {
  const named = process.env["NODE_20_PATH"] ?? "";
  const onPath = [...(process.env["PATH"] ?? "").split(delimiter), ...USUAL].map((folder) => join(folder, "node"));
  const paths = named === "" ? [...onPath, process.execPath] : [named];
  const found = [...new Set(paths)].filter((path) => path !== "" && existsSync(path)).flatMap(versionOf);
  const [oldest] = found.toSorted((one, other) => majorOf(one) - majorOf(other));
  return oldest ?? { path: process.execPath, version: process.versions.node };
}

export function majorOf({ version }: { readonly version: string }): number {
  return Number(version.split(".", 1)[0]);
}

/** `version`, e.g. `20.20.2` */
function versionOf(path: string) {
  const { stdout, status } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 10_000 });
  const version = stdout?.trim().replace(/^v/, "") ?? "";
  const one = { path, version };
  return status === 0 && majorOf(one) >= MAJOR ? [one] : [];
}
