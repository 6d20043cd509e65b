/**
 * `npm run bench`. The tables go to stdout, progress to stderr. Exits with 0 whether or not the aims
 * are met, because a busy machine is not a defect; with 1 when the run itself failed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildBroker } from "../../support/setup/built-services.ts";
import { BROKER_BUNDLE } from "../../support/paths.ts";
import { readProgram, runProgram, say } from "../../support/program.ts";
import { buildAt } from "../against.ts";
import { openBrokerPart } from "./broker/part.ts";
import { type CpuProfile, partsOf, partsTable } from "./broker/profile.ts";
import { countLines, COUNTS } from "./counts/counts.ts";
import { openMcpPart } from "./mcp/part.ts";
import { type CommandLine, commandLineOf, HELP, OPTIONS, type Part } from "./options.ts";
import { type PartOfBench, runPart } from "./part.ts";
import { runRegistryBench } from "./registry/bench.ts";
import { openStorePart } from "./store/part.ts";

const PROFILES = join(import.meta.dirname, "results", "profiles");

async function run(commandLine: CommandLine): Promise<void> {
  const { parts, profile, count } = commandLine;
  if (parts.includes("broker") && !count) {
    say("building the broker where it is older than its sources");
    buildBroker();
  }
  for (const part of parts) {
    const text = count ? await countPart(part) : await measurePart(part, commandLine);
    process.stdout.write(`${text}\n\n`);
    if (part !== "broker" || !profile) continue;
    process.stdout.write(`${["memory", "sqlite"].map(describeProfile).join("\n\n")}\n\n`);
  }
  if (profile) process.stdout.write(`profiles, for a browser's developer tools: ${PROFILES}/*.cpuprofile\n`);
}

async function countPart(part: Part): Promise<string> {
  if (part === "registry") throw new Error("nothing of the registry is counted");
  return countLines(await COUNTS[part]());
}

async function measurePart(part: Part, commandLine: CommandLine): Promise<string> {
  const { rounds, flows: count, profile: profiled, against: commit, mixedCalls } = commandLine;
  const profiles = profiled ? PROFILES : undefined;
  const measure = async (opened: Promise<PartOfBench>, mostWarmUp: number): Promise<string> => {
    const warmUp = commandLine.warmUp ?? mostWarmUp;
    // The store has no server.
    const asked = { count, rounds, warmUp, profiled: profiled && part !== "store" };
    return (await runPart(await opened, asked, say)).text;
  };
  switch (part) {
    case "broker": {
      const against = commit === undefined ? undefined : buildAt(commit, say);
      return measure(openBrokerPart(against, profiles), 30_000).finally(() => against?.remove());
    }
    case "store":
      return measure(openStorePart(), 15_000);
    case "mcp":
      return measure(openMcpPart(mixedCalls, profiles), 15_000);
    case "registry":
      return runRegistryBench(15, say).text;
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
