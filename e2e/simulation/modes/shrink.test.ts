/** A seed that breaks a promise is reduced; the planted defects are stores without one defence. */
import { patience } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Weaken } from "../world/store.ts";
import type { Outcome, RunSeed } from "./run-world.ts";
import { promiseOf, shrink } from "./shrink.ts";
import { withoutConditions, withoutLeases } from "./weakened.ts";
import { WORLDS } from "./worlds.ts";

const LIMIT_MS = patience(12_000);

describe.each([
  ["brokers", withoutLeases, 2],
  ["servers", withoutConditions, 3],
] as const)("a red seed of %s", { timeout: LIMIT_MS }, (world, weaken, tries) => {
  const runSeed = WORLDS[world];

  it(`is reduced to one actor, and breaks the same promise at the same event, ${weaken.name}`, async () => {
    const red = await firstRed(runSeed, weaken);
    const reduced = (await shrink(runSeed, red.seed, { weaken, tries }))!;
    expect(reduced.actors).toHaveLength(1);
    expect(reduced.events).toBeLessThanOrEqual(red.events);
    expect(promiseOf(reduced.broken[0] ?? "")).toBe(promiseOf(red.broken[0] ?? ""));
    const { seed, actors, events, broken } = reduced;
    const again = await runSeed(seed, { weaken, actors });
    expect({ events: again.events, broken: again.broken }).toEqual({ events, broken });
    expect(again.story.at(-1)).toBe(reduced.story.at(-1));
    // Who asked what, and what the store did: the field's words.
    expect(reduced.story.join("\n")).toMatch(/ asks (?:broker|server) \d for \/[^]*asks the store to /);
    expect((await runSeed(seed, { weaken, actors, mostEvents: events - 1 })).broken).toEqual([]);
  });
});

it("a green seed is not reduced", async () => {
  expect(await shrink(WORLDS.brokers, 1, { actors: ["anna"] })).toBeUndefined();
});

async function firstRed(runSeed: RunSeed, weaken: Weaken): Promise<Outcome> {
  for (let seed = 1; seed <= 100; seed += 1) {
    const outcome = await runSeed(seed, { weaken });
    if (outcome.broken.length > 0) return outcome;
  }
  throw new Error("the planted defect was not found");
}
