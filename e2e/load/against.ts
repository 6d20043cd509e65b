/**
 * Builds the services of another commit beside these, so that one run measures both alternately, or
 * rolls from one to the other. Two runs cannot be compared: the machine is never the same twice.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../support/paths.ts";
import { temporaryFolder } from "../support/service-process.ts";

export type OtherBuild = ReturnType<typeof buildAt>;
/**
 * @param commit a revision that git knows here
 * @param say prints a line of progress
 * @returns the full hash, and the paths of the built files, which are there until this process ends
 * @throws Error when git does not know the revision, or the build of that commit fails
 */
export function buildAt(commit: string, say: (line: string) => void) {
  const run = (file: string, args: readonly string[], cwd: string): string =>
    execFileSync(file, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const hash = run("git", ["rev-parse", "--verify", "--end-of-options", `${commit}^{commit}`], ROOT).trim();
  const folder = temporaryFolder();
  say(`checking out ${hash.slice(0, 7)} and building its services`);
  run("git", ["clone", "--quiet", "--no-checkout", ROOT, folder], ROOT);
  run("git", ["checkout", "--quiet", "--detach", hash], folder);
  const apps = ["broker", "mcp-template"].map((name) => `--filter=@oauth-broker/${name}`);
  run(process.execPath, ["scripts/bootstrap.mjs", "turbo", "run", "build", ...apps], folder);
  const bundleOf = (app: string): string => join(folder, "apps", app, "dist", "main.js");
  return { commit: hash, broker: bundleOf("broker"), mcp: bundleOf("mcp-template") };
}
