/**
 * Runs seeds, or every order of a scenario, on source code from which one defence is removed, and
 * prints the first that breaks a promise. The defence is one of tooling/src/mutate: its sentence in the list, or how the name of one
 * that was found by its citation begins. Several can follow each other, each with a line of output:
 *
 *     node e2e/simulation/modes/without-defence.ts "PKCE #2 differs for each flow" 1..40 [servers]
 *     node e2e/simulation/modes/without-defence.ts "Mode bridge detects a changed copy" migrate-beside-a-writer
 *     node e2e/simulation/modes/without-defence.ts DEFENCE SEEDS WORLD DEFENCE SEEDS WORLD …
 */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readFileSync } from "node:fs";
import { guardsOf } from "../../../tooling/src/mutate/guards.ts";
import { LISTED } from "../../../tooling/src/mutate/list.ts";
import { type Mutation, mutate } from "../../../tooling/src/mutate/mutation.ts";
import { testsOf } from "../../../tooling/src/mutate/tests.ts";
import { parseSource, PRODUCT, readTexts } from "../../../tooling/src/sources.ts";
import type { WorldName } from "./worlds.ts";

type Change = Pick<Mutation, "file" | "find" | "replace">;

const ROOT = join(import.meta.dirname, "../../..");
const RELOADED = /^file:.*\/(?:apps|packages|e2e)\/(?!.*\/node_modules\/).*\.ts$/;

function mutationOf(defence: string): Change {
  const found = LISTED.find((one) => one.defence === defence) ?? guardOf(defence);
  if (found === undefined) throw new Error("give a defence of tooling/src/mutate");
  return found;
}

/** @param defence such as `rfc7636#4.6 in verifyCodeVerifier` */
function guardOf(defence: string): Change | undefined {
  const [citation = ""] = defence.split(" ", 1);
  const citing = [...readTexts(PRODUCT)].filter(([, text]) => text.includes(`//= ${citation}\n`));
  const files = citing.map(([path, text]) => parseSource(path, text));
  return guardsOf(files, testsOf([])).find((one) => one.defence.startsWith(`${defence}: `));
}

/** @returns this source code, without the defence if it has it */
function sourceOf(path: string, mutation: Change): string {
  const text = readFileSync(path, "utf8");
  if (path !== join(ROOT, mutation.file)) return text;
  const mutated = mutate(mutation, text);
  if ("problem" in mutated) throw new Error(mutated.problem);
  return mutated.text;
}

/** Loads the modules of this repository once more, for this defence alone: the run is its own part of every URL. */
function importWithout(mutation: Change, run: number): (path: string) => Promise<unknown> {
  const mark = `?without=${run}`;
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      const isOfRun = context.parentURL?.endsWith(mark) === true || specifier.endsWith(mark);
      return isOfRun && RELOADED.test(found.url) ? { ...found, url: found.url + mark } : found;
    },
    load: (url, context, next) => {
      if (!url.endsWith(mark)) return next(url, context);
      return { format: "module-typescript", source: sourceOf(fileURLToPath(url), mutation), shortCircuit: true };
    },
  });
  return (path) => import(path + mark);
}

/** @param range seeds, or a scenario */
async function firstBroken(range: string, world: string, load: (path: string) => Promise<unknown>) {
  const [, first, last] = /^(\d+)\.\.(\d+)$/.exec(range) ?? [];
  if (first === undefined) {
    const { SCENARIOS } = (await load("./scenarios.ts")) as typeof import("./scenarios.ts");
    const { runEveryOrder } = (await load("./every-order.ts")) as typeof import("./every-order.ts");
    const scenario = SCENARIOS[range];
    if (scenario === undefined) throw new Error("give seeds such as 1..40, or a scenario");
    const [sentence] = (await runEveryOrder(scenario)).broken;
    return sentence === undefined ? undefined : { at: range, sentence };
  }
  const { WORLDS } = (await load("./worlds.ts")) as typeof import("./worlds.ts");
  const run = WORLDS[world as WorldName];
  for (let seed = Number(first); seed <= Number(last); seed += 1) {
    const [sentence] = (await run(seed)).broken;
    if (sentence !== undefined) return { at: `${seed}`, sentence };
  }
  return undefined;
}

const { promiseOf } = await import("./shrink.ts");
const given = process.argv.slice(2);
for (let run = 0; run * 3 < given.length; run += 1) {
  const [defence = "", range = "", world = "brokers"] = given.slice(run * 3, run * 3 + 3);
  const found = await firstBroken(range, world, importWithout(mutationOf(defence), run));
  const shown = found === undefined ? {} : { at: found.at, promise: promiseOf(found.sentence) };
  process.stdout.write(`${JSON.stringify(shown)}\n`);
}
