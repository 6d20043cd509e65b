// `npm test`: turbo runs the tests of every workspace; this adds up their results in
// coverage/results.json. `npm run test:soak` (`--soak`) does the same with the soak tests and
// coverage/soak.json. Other arguments go to turbo (`npm test -- --filter=@oauth-broker/oauth-core`,
// `npm test -- --force`). The last line is always `N passed, N failed, N skipped`; the exit code is
// 0 only when at least one test passed and none failed.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

// Each vitest starts a worker per core. Two workspaces at a time: one waits while the other computes,
// and while it starts and ends. One of them is e2e, which takes as long as all others together and
// waits most of the time. Turbo would start it last, because it depends on builds: so it has a turbo
// of its own. The soak measures rates, so each workspace has the machine to itself.
const TESTS = { name: "test", results: "results.json", concurrency: 2, longest: "@oauth-broker/e2e" };
const SOAK = { name: "test:soak", results: "soak.json", concurrency: 1 };

const shell = process.platform === "win32";
const line = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/**
 * One workspace's numbers from vitest's JSON report. A file that did not load, or an error outside
 * any test, is a failure too.
 */
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

/**
 * @returns the workspaces that turbo will test with these arguments; none when it refuses them,
 *   which its run then explains
 */
function plannedWorkspaces({ name: planned, results }, args) {
  const { stdout, status } = spawnSync("turbo", ["run", planned, "--dry=json", ...args], { encoding: "utf8", shell });
  if (status !== 0) return [];
  return JSON.parse(stdout)
    .tasks.filter(({ task, command }) => task === planned && command !== "<NONEXISTENT>")
    .map(({ package: name, directory }) => ({ name, results: join(directory, "coverage", results) }));
}

/** @returns the exit code: 0 when all turbos ended with 0 */
async function runTurbos({ name, concurrency, longest }, args) {
  const isChosen = args.some((arg) => /^(?:-F|--filter|--affected)/.test(arg));
  const runs =
    longest === undefined || isChosen
      ? [[`--concurrency=${concurrency}`]]
      : [
          [`--filter=${longest}`, `--concurrency=${concurrency}`],
          [`--filter=!${longest}`, `--concurrency=${concurrency - 1}`],
        ];
  return Math.max(...(await Promise.all(runs.map((flags) => runTurbo(name, [...flags, ...args])))));
}

/** @returns turbo's exit code */
async function runTurbo(name, args) {
  const flags = ["--continue=dependencies-successful", "--ui=stream", "--output-logs=new-only"];
  const turbo = spawn("turbo", ["run", name, ...flags, ...args], { stdio: "inherit", shell });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => turbo.kill(signal));
  const [code] = await once(turbo, "exit");
  return code ?? 1;
}

function readCounts(results) {
  try {
    return countTests(JSON.parse(readFileSync(results, "utf8")));
  } catch {
    return undefined; // Missing or incomplete.
  }
}

async function main(task, args) {
  const workspaces = plannedWorkspaces(task, args);
  // Every file that exists afterwards was written, or restored from turbo's cache, by this run.
  for (const { results } of workspaces) rmSync(results, { force: true });
  const code = await runTurbos(task, args);

  const total = { passed: 0, failed: 0, skipped: 0 };
  console.log("");
  for (const { name, results } of workspaces) {
    const counts = readCounts(results);
    console.log(`${name}: ${counts === undefined ? "no results, which counts as 1 failed" : line(counts)}`);
    for (const [key, count] of Object.entries(counts ?? { failed: 1 })) total[key] += count;
  }
  if (code !== 0 && total.failed === 0) {
    total.failed = 1;
    console.log(`turbo ended with ${code} although no test failed, which counts as 1 failed: see above`);
  }
  if (total.skipped > 0) {
    console.log(
      "Browser tests are skipped without Chromium: set CHROMIUM_PATH, or apt-get install chromium fonts-liberation",
    );
  }
  if (total.passed === 0) console.log("No test passed, so this run proves nothing.");
  console.log(line(total));
  return total.passed > 0 && total.failed === 0 ? 0 : 1;
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  process.exit(
    await main(
      args.includes("--soak") ? SOAK : TESTS,
      args.filter((arg) => arg !== "--soak"),
    ),
  );
}
