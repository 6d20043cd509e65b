// Runs the tests of one workspace and leaves coverage/results.json, which scripts/test.mjs adds up.
// The old file goes first: a run that dies must not leave yesterday's numbers.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";

rmSync("coverage/results.json", { force: true });
const reporters = ["--reporter=default", "--reporter=json", "--outputFile.json=coverage/results.json"];
// A property over hundreds of inputs takes longer than vitest's five seconds on a busy machine.
const limits = ["--testTimeout=30000", "--hookTimeout=30000"];
const { status } = spawnSync("vitest", ["run", ...reporters, ...limits, ...process.argv.slice(2)], {
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exit(status ?? 1);
