// `npm test`: turbo runs the tests of every workspace; this adds up their results in
// coverage/results.json. `npm run test:soak` (`--soak`) does the same with the soak tests and
// coverage/soak.json. `npm test -- callback` runs only the test files whose path contains the word,
// one workspace after the other. Options go to turbo (`npm test -- --filter=@oauth-broker/oauth-core`,
// `npm test -- --force`). What failed is named once more at the end, each on a line `failed: ...`. The
// last line is always `N passed, N failed, N skipped`; the exit code is 0 only when at least one test
// passed and none failed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { USAGE_EXIT_CODE } from "../packages/oauth-core/src/mechanics/command-line.ts";
import { nearest } from "../packages/oauth-core/src/mechanics/nearest.ts";
import { readOptions } from "./usage.mjs";

// E2e takes as long as all others together, and waits most of the time. Turbo would start it last,
// because it depends on builds: so it has a turbo of its own. Beside it runs one workspace more than
// there are cores, because some wait for the disk, each in one worker: a second one would load the same
// modules again.
const CORES = availableParallelism();
const LONGEST = "@oauth-broker/e2e";
const TESTS = { name: "test", results: "results.json" };
const SOAK = { name: "test:soak", results: "soak.json" };

const ABOUT = {
  program: "npm test",
  takes: " [-- WORD... | -- OPTION...]\n       npm run test:soak [-- OPTION...]",
  help: `Runs the tests of every workspace; test:soak runs those of volume, at full size (docs/testing.md).
The last line counts them: N passed, N failed, N skipped. Exit code 0: at least one passed, none failed.

  WORD...          only the test files whose path contains one of the words (npm test)
  --filter=NAME    one workspace, for example --filter=@oauth-broker/oauth-core
  --force          every test again, also those whose result turbo has kept
  OPTION...        any other option of turbo run`,
};

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
 * What failed, by name: each test, and each file that did not load, with the first line of its error.
 *
 * @param root the paths of files start there
 * @returns e.g. `["packages/oauth-core/src/protocol/scope.test.ts: parses a scope: AssertionError: ..."]`
 */
export function nameFailures(report, root) {
  const firstLine = (message = "") => message.split("\n", 1)[0];
  return report.testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, message, assertionResults }) => {
      const file = relative(root, name).replaceAll("\\", "/");
      const failed = assertionResults.filter(({ status }) => status === "failed");
      if (failed.length === 0) return [`${file}: ${firstLine(message)}`];
      return failed.map((test) => `${file}: ${test.fullName}: ${firstLine(test.failureMessages[0])}`);
    });
}

/** @returns the paths of reports from the root, in order */
const findReports = ({ results }) => globSync(`{packages/*,apps/*,e2e,tooling}/coverage/${results}`).sort();

/** @returns those that a run of all workspaces leaves */
const reportsOfAll = ({ name, results }) =>
  globSync("{packages/*,apps/*,e2e,tooling}/package.json")
    .filter((path) => JSON.parse(readFileSync(path, "utf8")).scripts?.[name] !== undefined)
    .map((path) => join(dirname(path), "coverage", results))
    .sort();

/** @returns paths of test files from the root, in order */
function findTestFiles() {
  const exclude = (path) => /(^|[/\\])(node_modules|dist)$/.test(path);
  return globSync("{packages/*,apps/*,e2e,tooling}/**/*.test.ts", { exclude })
    .map((path) => path.replaceAll("\\", "/"))
    .sort();
}

/**
 * The test files whose path contains one of the words, by workspace.
 *
 * @returns e.g. `[["packages/oauth-core", ["src/protocol/scope.test.ts"]]]`
 */
export function chooseTestFiles(files, words) {
  const wanted = files.filter((path) => words.some((word) => path.toLowerCase().includes(word.toLowerCase())));
  const split = wanted.map((path) => /^((?:packages|apps)\/[^/]+|[^/]+)\/(.+)$/.exec(path).slice(1));
  return [...Map.groupBy(split, ([workspace]) => workspace)].map(([workspace, of]) => [
    workspace,
    of.map(([, file]) => file),
  ]);
}

/** @returns the names of test files that are close to what was written, without repetition */
export function nearTestFiles(files, word) {
  const names = new Set(files.map((path) => basename(path).replace(/(\.[a-z]+)?\.test\.ts$/, "")));
  const parts = new Map([...names].flatMap((name) => name.split("-").map((part) => [part, name])));
  return [...new Set([nearest(word, names), parts.get(nearest(word, parts.keys()))])].filter(Boolean);
}

const isOfSome = (args) => args.some((arg) => /^(?:-F|--filter|--affected)/.test(arg));

/** @returns the exit code: 0 when all turbos ended with 0 */
async function runTurbos({ name }, args) {
  const run = (flags, env) => runTurbo(name, ["--output-logs=new-only", ...flags, ...args], env);
  const runs = isOfSome(args)
    ? [run(["--concurrency=2"])]
    : [
        // The bundler's threads wait for each other by spinning, which is half of its CPU while others run.
        run([`--filter=${LONGEST}`, "--concurrency=2"], { RAYON_NUM_THREADS: "1" }),
        run([`--filter=!${LONGEST}`, `--concurrency=${CORES + 1}`], { VITEST_MAX_WORKERS: "1" }),
      ];
  return Math.max(...(await Promise.all(runs)));
}

/**
 * The chosen files, one workspace after the other. What turbo has cached is shown again.
 *
 * @returns the exit code: 0 when all turbos ended with 0
 */
async function runChosen({ name }, chosen) {
  let worst = 0;
  for (const [workspace, files] of chosen) {
    if (isStopped) return 1;
    console.log(`\n${workspace}: ${files.length} test file${files.length === 1 ? "" : "s"}`);
    const flags = [`--filter=./${workspace}`, "--output-logs=full", "--", ...files];
    worst = Math.max(worst, await runTurbo(name, flags));
  }
  return worst;
}

const turbos = new Set();
let isStopped = false;
for (const signal of import.meta.main ? ["SIGINT", "SIGTERM", "SIGHUP"] : []) {
  process.on(signal, () => {
    isStopped = true;
    for (const turbo of turbos) turbo.kill(signal);
  });
}

/**
 * @param env for what is not in the environment already
 * @returns turbo's exit code
 */
async function runTurbo(name, args, env) {
  const flags = ["--continue=dependencies-successful", "--ui=stream"];
  const options = { stdio: "inherit", shell, env: { ...env, ...process.env } };
  const turbo = spawn("turbo", ["run", name, ...flags, ...args], options);
  turbos.add(turbo);
  const [code] = await once(turbo, "exit");
  turbos.delete(turbo);
  return code ?? 1;
}

/** @returns undefined for a report that is missing, or not written to its end */
export function readReport(results) {
  try {
    const report = JSON.parse(readFileSync(results, "utf8"));
    return { counts: countTests(report), failures: nameFailures(report, process.cwd()) };
  } catch {
    return undefined;
  }
}

async function main(task, args) {
  // Its other options are turbo's.
  const asked = args.find((arg) => ["--help", "-h", "--version", "-v"].includes(arg));
  if (asked !== undefined) readOptions(ABOUT, [asked]);
  const isOption = (arg) => arg.startsWith("-");
  const words = task === TESTS && args.length > 0 && !isOption(args[0]) ? args : [];
  if (words.some(isOption)) {
    console.log("Words choose test files, options go to turbo: not both. A filter of turbo is --filter=NAME.");
    return USAGE_EXIT_CODE;
  }
  const files = words.length === 0 ? [] : findTestFiles();
  const chosen = chooseTestFiles(files, words);
  if (words.length > 0 && chosen.length === 0) {
    const near = words.flatMap((word) => nearTestFiles(files, word));
    const hint = near.length === 0 ? "" : ` Near: ${near.join(", ")}.`;
    console.log(`No path of a test file contains ${words.join(" or ")}.${hint}`);
    return 1;
  }
  // Every file that exists afterwards was written, or restored from turbo's cache, by this run.
  for (const path of findReports(task)) rmSync(path);
  const code = words.length > 0 ? await runChosen(task, chosen) : await runTurbos(task, args);

  const total = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  console.log("");
  for (const path of words.length > 0 || isOfSome(args) ? findReports(task) : reportsOfAll(task)) {
    const report = readReport(path);
    console.log(
      `${dirname(dirname(path))}: ${report === undefined ? "no results, which counts as 1 failed" : line(report.counts)}`,
    );
    for (const [key, count] of Object.entries(report?.counts ?? { failed: 1 })) total[key] += count;
    failures.push(...(report?.failures ?? []));
  }
  for (const failure of failures) console.log(`failed: ${failure}`);
  if (code !== 0 && total.failed === 0) {
    total.failed = 1;
    console.log(`turbo ended with ${code} although no test failed, which counts as 1 failed: see above`);
  }
  if (total.skipped > 0) {
    console.log(
      "Browser tests are skipped without Chromium: set CHROMIUM_PATH, or apt-get install chromium-headless-shell fonts-liberation",
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
      args.filter((arg) => arg !== "--soak" && arg !== ""),
    ),
  );
}
