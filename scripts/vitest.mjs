// Runs the tests of one workspace and leaves coverage/results.json for the closing line of scripts/test.mjs.
import { spawnSync } from "node:child_process";

const { status } = spawnSync(
  "vitest",
  ["run", "--passWithNoTests", "--reporter=default", "--reporter=json", "--outputFile.json=coverage/results.json", ...process.argv.slice(2)],
  { stdio: "inherit", shell: process.platform === "win32" },
);
process.exit(status ?? 1);
