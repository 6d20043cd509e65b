/**
 * Compiles a workspace of a working copy, and runs test files in it, one process each. Called by
 * try-mutation.ts and run.ts.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join, posix } from "node:path";

export interface TestRun {
  /** Names of the tests that failed; empty when all passed. */
  readonly failed: readonly string[];
  readonly passed: number;
  /** Why the run is not conclusive: a file that did not load, or no report. */
  readonly broken?: string;
}

/** A test that takes longer than this fails. Half the limit of `npm test`. */
const TEST_LIMIT_MS = 45_000;

/** After this time a command is stopped. */
const RUN_LIMIT_MS = 600_000;

/** Twins replace the defence themselves, so they cannot notice its absence. */
const NO_TWIN = String.raw`^(?!.*\b[Tt]wins?\b)`;

/** @returns the folder of the workspace that contains a file, from the root */
export function workspaceOf(root: string, path: string): string {
  let folder = posix.dirname(path);
  while (folder !== "." && !existsSync(join(root, folder, "package.json"))) folder = posix.dirname(folder);
  return folder;
}

/** @returns the compiler's complaint, or undefined */
export async function compile(root: string, workspace: string): Promise<string | undefined> {
  // What only the defence used is unused without it.
  const unused = ["--noUnusedLocals", "false", "--noUnusedParameters", "false"];
  const { code, output } = await run(root, workspace, "tsc", ["-p", ".", ...unused]);
  return code === 0 ? undefined : output.trim().slice(0, 2000);
}

/**
 * @param paths test files of one workspace, from the root
 * @param isFirstEnough ends the run at the first test that fails
 */
export async function runTests(root: string, paths: readonly string[], isFirstEnough: boolean): Promise<TestRun> {
  const [first = ""] = paths;
  const workspace = workspaceOf(root, first);
  const report = join(root, workspace, "coverage", "mutate.json");
  rmSync(report, { force: true });
  const { output } = await run(root, workspace, "vitest", [
    "run",
    ...paths.map((path) => posix.relative(workspace, path)),
    "--maxWorkers=1",
    `--bail=${isFirstEnough ? 1 : 0}`,
    `--testNamePattern=${NO_TWIN}`,
    `--testTimeout=${TEST_LIMIT_MS}`,
    `--hookTimeout=${TEST_LIMIT_MS}`,
    "--reporter=json",
    `--outputFile.json=${report}`,
  ]);
  if (!existsSync(report)) return { failed: [], passed: 0, broken: output.trim().slice(-2000) };
  return readReport(JSON.parse(readFileSync(report, "utf8")) as Report);
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function readReport({ numPassedTests, testResults }: Report): TestRun {
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
  );
  const unloaded = testResults.find(
    ({ status, message, assertionResults }) => status === "failed" && message !== "" && assertionResults.length === 0,
  );
  if (unloaded === undefined) return { failed, passed: numPassedTests };
  const broken = `${unloaded.name} did not load: ${unloaded.message}`.slice(0, 2000);
  return { failed, passed: numPassedTests, broken };
}

/** The copy's own programs, found as `npm run` finds them. */
async function run(
  root: string,
  workspace: string,
  command: string,
  args: readonly string[],
): Promise<{ code: number; output: string }> {
  const PATH = [join(root, "node_modules", ".bin"), dirname(process.execPath), process.env.PATH ?? ""].join(delimiter);
  const options = {
    cwd: join(root, workspace),
    env: { ...process.env, PATH, CI: "true" },
    timeout: RUN_LIMIT_MS,
    maxBuffer: 2 ** 28,
    shell: process.platform === "win32",
  };
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
    );
  });
}
