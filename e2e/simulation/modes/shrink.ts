/**
 * A seed that breaks a promise is reduced to the run that is the easiest to read: with the fewest
 * actors, and of those the one with the fewest events up to the break. Fewer actors draw other
 * numbers, so seeds near the first are tried with them; a run is used only if it breaks the same
 * promise.
 */
import { ACTORS, type Outcome, type RunSeed, type SeedOptions } from "./run-world.ts";

/** Seeds tried with each choice of actors. */
const TRIES = 20;

/** @returns the run itself if nothing smaller breaks the same promise; undefined: it breaks none */
export async function shrink(
  runSeed: RunSeed,
  seed: number,
  { tries = TRIES, ...options }: Omit<SeedOptions, "mostEvents"> & { readonly tries?: number } = {},
): Promise<Outcome | undefined> {
  const first = await runSeed(seed, options);
  const [sentence] = first.broken;
  if (sentence === undefined) return undefined;
  const promise = promiseOf(sentence);
  for (let count = 1; count <= first.actors.length; count += 1) {
    let best: Outcome | undefined;
    for (const actors of choicesOf(first.actors, count)) {
      for (let more = 0; more < tries; more += 1) {
        const mostEvents = (best ?? first).events;
        const tried = await runSeed(seed + more, { ...options, actors, mostEvents });
        const isSame = tried.broken[0] !== undefined && promiseOf(tried.broken[0]) === promise;
        if (isSame && tried.events < (best?.events ?? Infinity)) best = tried;
      }
    }
    if (best !== undefined) return best;
  }
  return first;
}

/** The sentence without names and numbers. */
export function promiseOf(sentence: string): string {
  return sentence.replace(new RegExp(`\\b(${ACTORS.join("|")}|\\d+)\\b`, "g"), "…");
}

function choicesOf(list: readonly string[], count: number): (readonly string[])[] {
  if (count === 0) return [[]];
  return list.flatMap((one, index) => choicesOf(list.slice(index + 1), count - 1).map((rest) => [one, ...rest]));
}
