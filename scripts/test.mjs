// `npm test`: turbo runs the tests of every workspace; this adds up what they left in coverage/results.json.
// Arguments go to turbo (`npm test -- --filter=@oauth-broker/oauth-core`, `npm test -- --force`).
// The last line is always `N passed, N failed, N skipped`; the exit code is 0 only when something passed and nothing failed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** One workspace's numbers from vitest's JSON report. A file that did not load, or an error outside any test, is a failure too. */
export function countTests(report) {
  const broken = report.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  ).length;
  const failed = report.numFailedTests + broken;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && !report.success ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** @returns the workspaces turbo would test with these arguments */
function plannedWorkspaces(args) {
  const { stdout, stderr, status } = spawnSync("turbo", ["run", "test", "--dry=json", ...args], {
    encoding: "utf8",
    shell,
  });
  if (status !== 0) throw new Error(`turbo could not plan the tests:\n${stdout}${stderr}`);
  return JSON.parse(stdout)
    .tasks.filter(({ task, command }) => task === "test" && command !== "<NONEXISTENT>")
    .map(({ package: name, directory }) => ({ name, results: join(directory, "coverage", "results.json") }));
}

function main(args) {
  const workspaces = plannedWorkspaces(args);
  // What is there afterwards was made, or restored from turbo's cache, by this run.
  for (const { results } of workspaces) rmSync(results, { force: true });

  // Each vitest brings workers of its own; one workspace per two cores keeps timing tests honest.
  const concurrency = Math.max(2, Math.floor(availableParallelism() / 2));
  const flags = [
    "--continue=dependencies-successful",
    "--ui=stream",
    "--output-logs=new-only",
    `--concurrency=${concurrency}`,
  ];
  const turbo = spawnSync("turbo", ["run", "test", ...flags, ...args], { stdio: "inherit", shell });

  const total = { passed: 0, failed: 0, skipped: 0 };
  console.log("");
  for (const { name, results } of workspaces) {
    const made = existsSync(results);
    const counts = made ? countTests(JSON.parse(readFileSync(results, "utf8"))) : { passed: 0, failed: 1, skipped: 0 };
    for (const key of Object.keys(total)) total[key] += counts[key];
    console.log(
      `${name}: ${made ? line(counts) : "no results, which counts as 1 failed: its run ended before the report"}`,
    );
  }
  if (turbo.status !== 0 && total.failed === 0) {
    total.failed = 1;
    console.log(
      `turbo ended with ${turbo.status ?? turbo.signal} although no test failed, which counts as 1 failed: see above`,
    );
  }
  if (total.skipped > 0) {
    console.log(
      "Skipped tests need a browser: set CHROMIUM_PATH, or on Debian: apt-get install -y chromium fonts-liberation",
    );
  }
  if (total.passed === 0) console.log("No test passed, so this run proves nothing.");
  console.log(line(total));
  return total.passed > 0 && total.failed === 0 ? 0 : 1;
}

const line = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;
const shell = process.platform === "win32";

if (import.meta.main) process.exit(main(process.argv.slice(2)));
