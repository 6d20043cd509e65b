/**
 * `npm run bench`. The table goes to stdout, progress to stderr, the results to a JSON file. Exits
 * with 0 whether or not the aims are met, because a busy machine is not a defect; with 1 when the
 * run itself failed.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildBroker } from "../../support/setup/built-services.ts";
import { type BenchResults, runBench } from "./broker/bench.ts";
import { aimLines, comparisonLines, table } from "./broker/figures.ts";
import { type CpuProfile, partsOf, partsTable } from "./broker/profile.ts";
import { BROKER_BUNDLE } from "../../support/paths.ts";
import { readProgram, runProgram, say } from "../../support/program.ts";
import { buildAt } from "../against.ts";
import { mcpTable, mcpAimLine } from "./mcp/figures.ts";
import { mixedLine } from "./mcp/mixed.ts";
import { type McpResults, runMcpBench } from "./mcp/bench.ts";
import { countLines, COUNTS } from "./counts/counts.ts";
import { type CommandLine, commandLineOf, HELP, OPTIONS, RESULTS_FOLDER } from "./options.ts";
import { registryTable, registryAimLine, runRegistryBench } from "./registry/bench.ts";
import { runStoreBench, type StoreResults } from "./store/bench.ts";
import { storeTable, storeAimLines } from "./store/figures.ts";

async function run(commandLine: CommandLine): Promise<void> {
  const { parts, profile, jsonPath } = commandLine;
  if (commandLine.count) {
    say("building the broker where it is older than its sources");
    buildBroker();
    for (const part of parts) {
      if (part === "registry") throw new Error("nothing of the registry is counted");
      process.stdout.write(`${countLines(await COUNTS[part]())}\n\n`);
    }
    return;
  }
  const profileFolder = join(RESULTS_FOLDER, "profiles");
  const options = { ...commandLine, ...(profile ? { profileFolder } : {}) };
  const texts: string[] = [];
  let results = {};
  if (parts.includes("broker")) {
    say("building the broker where it is older than its sources");
    buildBroker();
    const { againstCommit } = commandLine;
    const against = againstCommit === undefined ? undefined : buildAt(againstCommit, say);
    try {
      const broker = await runBench({ ...options, ...(against === undefined ? {} : { against }) }, say);
      texts.push(describe(broker));
      if (profile) texts.push(...["memory", "sqlite"].map((name) => describeProfile(profileFolder, name)));
      results = broker;
    } finally {
      against?.remove();
    }
  }
  if (parts.includes("store")) {
    const store = await runStoreBench(options, say);
    texts.push(describeStore(store));
    results = { ...results, store };
  }
  if (parts.includes("mcp")) {
    const mcp = await runMcpBench(options, say);
    texts.push(describeMcp(mcp));
    results = { ...results, mcp };
  }
  if (parts.includes("registry")) {
    const registry = runRegistryBench({ runs: commandLine.registryRuns }, say);
    texts.push(`${registryTable(registry.figures)}\n\n${registryAimLine(registry)}`);
    results = { ...results, registry };
  }
  mkdirSync(dirname(jsonPath), { recursive: true });
  writeFileSync(jsonPath, `${JSON.stringify(results, null, 2)}\n`);
  process.stdout.write(`${texts.join("\n\n")}\n\nresults: ${jsonPath}\n`);
  if (profile) process.stdout.write(`profiles, for a browser's developer tools: ${profileFolder}/*.cpuprofile\n`);
}

function describe({
  machine,
  node,
  connections,
  flows,
  rounds,
  warmUp,
  profiled,
  figures,
  aims,
  comparisons,
  against,
}: BenchResults): string {
  const settings = `${rounds} rounds of ${flows} flows and ${flows} refreshes after ${warmUp} of each, ${connections} connections, Node.js ${node}, ${machine}`;
  const conclusion = profiled ? "Run under a profiler: compare nothing with these figures." : aimLines(aims);
  const before = against === undefined ? [] : [`before: ${against}`, comparisonLines(comparisons)];
  return [settings, table(figures), conclusion, ...before].join("\n\n");
}

function describeProfile(folder: string, name: string): string {
  const profile = JSON.parse(readFileSync(join(folder, `${name}.cpuprofile`), "utf8")) as CpuProfile;
  return partsTable(name, partsOf(profile, readFileSync(BROKER_BUNDLE, "utf8")));
}

function describeStore(results: StoreResults): string {
  const { engine, operations, rounds, storeWarmUp, lanes, tokenLengths, rowBytes, node, machine } = results;
  const row = `tokens of ${tokenLengths.access} and ${tokenLengths.refresh} characters, ${rowBytes} bytes a row`;
  const settings = `store: ${rounds} rounds of ${operations} operations after ${storeWarmUp} of each, ${lanes} at once, ${engine}, ${row}, Node.js ${node}, ${machine}`;
  const { figures, comparisons, kms } = results;
  return [settings, storeTable(figures), storeAimLines(comparisons, kms)].join("\n\n");
}

function describeMcp(results: McpResults): string {
  const { figures, mixed, calls, rounds, callsWarmUp, connections, engine, node, machine, profiled } = results;
  const settings = `mcp: ${rounds} rounds of ${calls} calls of each kind after ${callsWarmUp}, ${connections} connections, ${engine}, Node.js ${node}, ${machine}`;
  const conclusion = profiled ? "Run under a profiler: compare nothing with these figures." : mcpAimLine(figures);
  const texts = [settings, mcpTable(figures), conclusion, ...(mixed === undefined ? [] : [mixedLine(mixed)])];
  return texts.join("\n\n");
}

const commandLine = readProgram(OPTIONS, { program: "npm run bench --", help: HELP }, commandLineOf);
if (commandLine !== undefined) await runProgram(() => run(commandLine));
