// `npm run check`: every gate, one line each, continuing after a failure. `--no-test` leaves out
// the slow one. A gate's output is shown only when it fails.
import { spawnSync } from "node:child_process";
import { readOptions } from "./usage.mjs";

const tool = (command) => ["node", "tooling/src/main.ts", command];
const turbo = (...args) => ["turbo", "run", ...args, "--ui=stream", "--output-logs=errors-only"];
const GATES = [
  ["format", "oxfmt", "--check"],
  ["lint", "oxlint", "--deny-warnings"],
  ["types", ...turbo("typecheck", "--continue")],
  ["boundaries", ...tool("boundaries")],
  ["tracked files", ...tool("tracked")],
  ["generated files", ...tool("check")],
  ["lockfile", ...tool("lockfile")],
  ["github files", ...tool("github")],
  ["API description", "node", "scripts/openapi.mjs"],
  ["unused code", "knip"],
  ["bundles", ...turbo("build", "--filter=./apps/*")],
  ["packages", ...turbo("publishable", "--filter=./packages/*", "--continue")],
  ["tests", "node", "scripts/test.mjs"],
];

const { values } = readOptions({
  program: "npm run check",
  takes: " [-- OPTIONS]",
  options: { "no-test": { type: "boolean", default: false } },
  help: `Runs every gate, and shows the output of those that fail.
Exit codes: 0 every gate is ok, 1 one failed, 2 the command line is not understood.

  --no-test        leaves out the tests`,
});

const failed = [];
for (const [name, command, ...rest] of GATES) {
  if (name === "tests" && values["no-test"]) continue;
  const started = performance.now();
  // The tests print their own progress and counts.
  const stdio = name === "tests" ? "inherit" : "pipe";
  const { status, stdout, stderr, error } = spawnSync(command, rest, {
    stdio,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status !== 0) {
    failed.push(name);
    process.stdout.write([stdout, stderr, error?.message].filter(Boolean).join("\n"));
  }
  console.log(`${status === 0 ? "ok    " : "failed"}  ${name} (${seconds} s)`);
}
console.log(failed.length === 0 ? "Every gate is ok." : `Failed: ${failed.join(", ")}.`);
process.exit(failed.length === 0 ? 0 : 1);
