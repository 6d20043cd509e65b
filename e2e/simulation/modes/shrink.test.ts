/** A seed that breaks a promise is reduced; the planted defects are stores without one defence. */
import { patience } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { runSeed } from "./run-seed.ts";
import { promiseOf, shrink } from "./shrink.ts";
import { withoutConditions, withoutLeases } from "./weakened.ts";

const LIMIT_MS = patience(12_000);
const tries = 5;

describe("a red seed", { timeout: LIMIT_MS }, () => {
  it("is reduced to one user if a lease is given to several", async () => {
    const red = await firstRed(withoutLeases);
    const reduced = await shrink(red.seed, { weaken: withoutLeases, tries });
    expect(reduced?.actors).toHaveLength(1);
    expect(reduced?.events).toBeLessThanOrEqual(red.events);
    expect(promiseOf(reduced?.broken[0] ?? "")).toBe(promiseOf(red.broken[0] ?? ""));
  });

  it("breaks the same promise again, with the same story, when it is run with those actors", async () => {
    const red = await firstRed(withoutConditions);
    const reduced = await shrink(red.seed, { weaken: withoutConditions, tries });
    const { seed, actors, events, broken } = reduced!;
    const again = await runSeed(seed, { weaken: withoutConditions, actors });
    expect({ events: again.events, broken: again.broken }).toEqual({ events, broken });
    expect(again.story.at(-1)).toBe(reduced?.story.at(-1));
    // Who asked what, and what the store did: the field's words.
    expect(reduced?.story.join("\n")).toMatch(/for \/v1\/callback[^]*asks the store to move flow/);
  });

  it("is not cut off before it breaks", async () => {
    const red = await firstRed(withoutConditions);
    const cut = await runSeed(red.seed, { weaken: withoutConditions, mostEvents: red.events - 1 });
    expect(cut.broken).toEqual([]);
  });
});

it("a green seed is not reduced", async () => {
  expect(await shrink(1)).toBeUndefined();
});

async function firstRed(weaken: typeof withoutLeases): ReturnType<typeof runSeed> {
  for (let seed = 1; seed <= 100; seed += 1) {
    const outcome = await runSeed(seed, { weaken });
    if (outcome.broken.length > 0) return outcome;
  }
  throw new Error("the planted defect was not found");
}
