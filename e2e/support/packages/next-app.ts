/** An example on Next.js as its README has it: a copy with the packages as they are published, built. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../service-process.ts";
import { exampleFolder } from "./example-process.ts";
import { makeTarballs, tarballOf } from "./packages.ts";
import { mustRun, plainEnvironment } from "./scaffold.ts";

/** For `beforeAll`: npm installs Next.js, and its compiler takes a minute of a core. */
export const BUILD_MS = 600_000;

/**
 * @param packages of this repository, all that it needs
 * @returns the folder
 */
export async function buildNextApp(name: string, packages: readonly string[]): Promise<string> {
  makeTarballs();
  const folder = join(temporaryFolder(), name);
  const ofOthers = /(?:node_modules|\.next|\.env|next-env\.d\.ts)$/;
  cpSync(exampleFolder(name), folder, { recursive: true, filter: (path) => !ofOthers.test(path) });
  const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
  await mustRun("npm", [...install, ...packages.map(tarballOf)], folder);
  const env = { ...plainEnvironment(), NEXT_TELEMETRY_DISABLED: "1" };
  await mustRun("npm", ["run", "build"], folder, env);
  return folder;
}
