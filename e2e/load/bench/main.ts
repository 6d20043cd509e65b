/**
 * `npm run bench`. The tables go to stdout, progress to stderr, the results to a JSON file. Exits
 * with 0 whether or not the aims are met, because a busy machine is not a defect; with 1 when the
 * run itself failed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildBroker } from "../../support/setup/built-services.ts";
import { BROKER_BUNDLE } from "../../support/paths.ts";
import { readProgram, runProgram, say, writeResults } from "../../support/program.ts";
import { buildAt } from "../against.ts";
import type { Rounds } from "../rounds.ts";
import { openBrokerPart } from "./broker/part.ts";
import { type CpuProfile, partsOf, partsTable } from "./broker/profile.ts";
import { countLines, COUNTS } from "./counts/counts.ts";
import { openMcpPart } from "./mcp/part.ts";
import { type CommandLine, commandLineOf, HELP, OPTIONS, type Part, RESULTS_FOLDER } from "./options.ts";
import { type PartOfBench, runPart } from "./part.ts";
import { registryTable, registryAimLine, runRegistryBench } from "./registry/bench.ts";
import { openStorePart } from "./store/part.ts";

const PROFILES = join(RESULTS_FOLDER, "profiles");

async function run(commandLine: CommandLine): Promise<void> {
  const { parts, profile, jsonPath, count } = commandLine;
  if (count) {
    for (const part of parts) {
      if (part === "registry") throw new Error("nothing of the registry is counted");
      process.stdout.write(`${countLines(await COUNTS[part]())}\n\n`);
    }
    return;
  }
  if (parts.includes("broker")) {
    say("building the broker where it is older than its sources");
    buildBroker();
  }
  const results: Record<string, object> = {};
  const texts: string[] = [];
  for (const part of parts) {
    const { text, ...found } = await measurePart(part, commandLine);
    results[part] = found;
    texts.push(text);
    if (part === "broker" && profile) texts.push(...["memory", "sqlite"].map(describeProfile));
  }
  writeResults(jsonPath, results);
  process.stdout.write(`${texts.join("\n\n")}\n\nresults: ${jsonPath}\n`);
  if (profile) process.stdout.write(`profiles, for a browser's developer tools: ${PROFILES}/*.cpuprofile\n`);
}

async function measurePart(part: Part, commandLine: CommandLine): Promise<{ readonly text: string }> {
  const { numbers, profile, againstCommit } = commandLine;
  const { rounds } = numbers;
  const watch = profile ? { profileFolder: PROFILES } : {};
  const measure = async (opened: Promise<PartOfBench>, load: Omit<Rounds, "rounds">, profiled = profile) =>
    runPart(await opened, { ...load, rounds, profiled }, say);
  switch (part) {
    case "broker": {
      const against = againstCommit === undefined ? undefined : buildAt(againstCommit, say);
      const load = { count: numbers.flows, warmUp: numbers["warm-up"] };
      return measure(openBrokerPart({ ...watch, against }), load).finally(() => against?.remove());
    }
    case "store": {
      const { operations } = numbers;
      const load = { count: operations, warmUp: numbers["store-warm-up"] };
      // Only the operations after its rounds run under the profiler.
      return measure(openStorePart(profile ? { profile: { folder: PROFILES, operations } } : {}), load, false);
    }
    case "mcp": {
      const load = { count: numbers.calls, warmUp: numbers["calls-warm-up"] };
      return measure(openMcpPart({ ...watch, mixedCalls: numbers["mixed-calls"] }), load);
    }
    case "registry": {
      const results = runRegistryBench({ runs: numbers["registry-runs"] }, say);
      return { ...results, text: `${registryTable(results.figures)}\n\n${registryAimLine(results)}` };
    }
    default:
      return part satisfies never;
  }
}

function describeProfile(name: string): string {
  const profile = JSON.parse(readFileSync(join(PROFILES, `${name}.cpuprofile`), "utf8")) as CpuProfile;
  return partsTable(name, partsOf(profile, readFileSync(BROKER_BUNDLE, "utf8")));
}

const commandLine = readProgram(OPTIONS, { program: "npm run bench --", help: HELP }, commandLineOf);
if (commandLine !== undefined) await runProgram(() => run(commandLine));
