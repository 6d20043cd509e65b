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
import type { Rounds } from "../rounds.ts";
import { benchBroker } from "./broker/part.ts";
import { type CpuProfile, partsOf, partsTable } from "./broker/profile.ts";
import { countLines, countPart } from "./counts/counts.ts";
import { benchMcp } from "./mcp/part.ts";
import { type CommandLine, commandLineOf, HELP, OPTIONS, type Part } from "./options.ts";
import { benchRegistry, registryText } from "./registry/bench.ts";
import { benchStore } from "./store/part.ts";

const PROFILES = join(import.meta.dirname, "results", "profiles");

async function run(commandLine: CommandLine): Promise<void> {
  const { parts, profile, count } = commandLine;
  if (parts.includes("broker") && !count) {
    say("building the broker where it is older than its sources");
    buildBroker();
  }
  for (const part of parts) {
    const text = count ? await countsOf(part) : (await measurePart(part, commandLine)).text;
    process.stdout.write(`${text}\n\n`);
    if (part !== "broker" || !profile) continue;
    process.stdout.write(`${["memory", "sqlite"].map(describeProfile).join("\n\n")}\n\n`);
  }
  if (profile)
    process.stdout.write(
      `run under a profiler: compare nothing with these figures; profiles, for a browser's developer tools: ${PROFILES}/*.cpuprofile\n`,
    );
}

async function countsOf(part: Part): Promise<string> {
  if (part === "registry") throw new Error("nothing of the registry is counted");
  return countLines(await countPart(part));
}

async function measurePart(
  part: Part,
  { rounds, flows: count, warmUp, profile, against: commit }: CommandLine,
): Promise<{ readonly text: string }> {
  const profiles = profile ? PROFILES : undefined;
  const asked = (mostWarmUp: number): Rounds => ({ count, rounds, warmUp: warmUp ?? mostWarmUp });
  if (part === "registry") return { text: registryText(await benchRegistry(15, say)) };
  if (part === "store") return benchStore(asked(15_000), say);
  if (part === "mcp") return benchMcp(profiles, asked(15_000), say);
  const against = commit === undefined ? undefined : buildAt(commit, say);
  return benchBroker({ against, profiles }, asked(30_000), say);
}

function describeProfile(name: string): string {
  const profile = JSON.parse(readFileSync(join(PROFILES, `${name}.cpuprofile`), "utf8")) as CpuProfile;
  return partsTable(name, partsOf(profile, readFileSync(BROKER_BUNDLE, "utf8")));
}

const commandLine = readProgram(OPTIONS, { program: "npm run bench --", help: HELP }, commandLineOf);
if (commandLine !== undefined) await runProgram(() => run(commandLine));
