/**
 * `npm run tour:screenshots`: runs the test of docs/tour.md, which makes its pictures again. Look
 * at them before you commit them.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { CHROMIUM, NO_CHROMIUM } from "../support/chromium.ts";
import { ROOT } from "../support/paths.ts";
import { readProgram } from "../support/program.ts";

const HELP = `Usage: npm run tour:screenshots

Makes the pictures of docs/tour.md anew. It needs Chromium.

  -h, --help       this text
  -v, --version    the version`;

if (readProgram({}, { program: "npm run tour:screenshots --", help: HELP }, () => true) === undefined) {
  process.exit();
}
if (CHROMIUM === undefined) {
  process.stderr.write(`${NO_CHROMIUM}\n`);
  process.exit(1);
}
const { status } = spawnSync("vitest", ["run", "scenarios/delivery/tour.test.ts", "-t", "Chromium"], {
  cwd: join(ROOT, "e2e"),
  env: { ...process.env, SCREENSHOTS: join(ROOT, "docs") },
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exit(status ?? 1);
