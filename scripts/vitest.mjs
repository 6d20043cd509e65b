// Runs the tests of one workspace and writes coverage/results.json, which scripts/test.mjs adds up;
// with `--soak` its tests of volume at full size, and coverage/soak.json. Begins
// with an empty report: a run that dies must not leave old numbers, nor none.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";

const [isSoak, args] = process.argv[2] === "--soak" ? [true, process.argv.slice(3)] : [false, process.argv.slice(2)];
const results = `coverage/${isSoak ? "soak" : "results"}.json`;
mkdirSync("coverage", { recursive: true });
writeFileSync(results, "{}");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
const vitest = spawn("vitest", ["run", ...reporters, ...args], {
  stdio: "inherit",
  env: isSoak ? { ...process.env, SOAK: "1" } : process.env,
  shell: process.platform === "win32",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => vitest.kill(signal));
vitest.on("exit", (code) => process.exit(code ?? 1));
