/**
 * Runs seeds, or every order of a scenario, on source code from which one defence is removed, and
 * prints the first that breaks a promise. The defence is one of tooling/src/mutate: its sentence in the list, or how the name of one
 * that was found by its citation begins. Modules are loaded once, so each defence is another process:
 *
 *     node e2e/simulation/modes/without-defence.ts "PKCE #2 differs for each flow" 1..40 [servers]
 *     node e2e/simulation/modes/without-defence.ts "Mode bridge detects a changed copy" migrate-beside-a-writer
 */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readGuards } from "../../../tooling/src/mutate/guards.ts";
import { LISTED } from "../../../tooling/src/mutate/list.ts";
import { mutate } from "../../../tooling/src/mutate/mutation.ts";
import type { WorldName } from "./worlds.ts";
import { testsOf } from "../../../tooling/src/mutate/tests.ts";

const [, , defence = "", range = "", world = "brokers"] = process.argv;
const mutation =
  LISTED.find((one) => one.defence === defence) ??
  readGuards(testsOf([], [])).find((one) => one.defence.startsWith(`${defence}: `));
const [, first, last] = /^(\d+)\.\.(\d+)$/.exec(range) ?? [];
if (mutation === undefined) throw new Error("give a defence of tooling/src/mutate");
const url = pathToFileURL(join(import.meta.dirname, "../../..", mutation.file)).href;
registerHooks({
  load: (asked, context, next) => {
    const loaded = next(asked, context);
    if (asked !== url) return loaded;
    const source =
      typeof loaded.source === "string" ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString();
    const mutated = mutate(mutation, source);
    if ("problem" in mutated) throw new Error(mutated.problem);
    return { ...loaded, source: mutated.text };
  },
});

const { promiseOf } = await import("./shrink.ts");

async function firstSeed(): Promise<{ readonly at: string; readonly sentence: string } | undefined> {
  const run = (await import("./worlds.ts")).WORLDS[world as WorldName];
  for (let seed = Number(first); seed <= Number(last); seed += 1) {
    const [sentence] = (await run(seed)).broken;
    if (sentence !== undefined) return { at: `${seed}`, sentence };
  }
  return undefined;
}

async function firstOrder(): ReturnType<typeof firstSeed> {
  const { SCENARIOS } = await import("./scenarios.ts");
  const scenario = SCENARIOS[range];
  if (scenario === undefined) throw new Error("give seeds such as 1..40, or a scenario");
  const [sentence] = (await (await import("./every-order.ts")).runEveryOrder(scenario)).broken;
  return sentence === undefined ? undefined : { at: range, sentence };
}

const found = await (first === undefined ? firstOrder() : firstSeed());
process.stdout.write(
  `${JSON.stringify(found === undefined ? {} : { at: found.at, promise: promiseOf(found.sentence) })}\n`,
);
