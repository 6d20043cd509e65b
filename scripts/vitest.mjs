// Runs the tests of one workspace and writes coverage/results.json, which scripts/test.mjs adds up.
// Deletes the old file first: a run that dies must not leave old numbers.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";

rmSync("coverage/results.json", { force: true });
const reporters = ["--reporter=default", "--reporter=json", "--outputFile.json=coverage/results.json"];
// Properties over hundreds of inputs, whole processes and browsers take longer than vitest's five
// seconds, and on a busy machine much longer. These override a workspace's own configuration.
const limits = ["--testTimeout=90000", "--hookTimeout=90000"];
const { status } = spawnSync("vitest", ["run", ...reporters, ...limits, ...process.argv.slice(2)], {
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exit(status ?? 1);
