/**
 * The simulator itself: seeds keep every promise, tell the same story again, and find a defence that is gone; a seed
 * that breaks a promise is reduced. The planted defects are stores without one defence.
 */
import { patience } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Weaken } from "../world/store.ts";
import { ONCE_RED } from "./once-red.ts";
import type { Outcome } from "./run-world.ts";
import { promiseOf, shrink } from "./shrink.ts";
import { withoutConditions } from "./weakened.ts";
import { type WorldName, WORLDS } from "./worlds.ts";

/** Bound by the CPU, so not in the soak, whose files have deadlines. Other seeds run weekly: mutations.yml. */
const SEEDS: Readonly<Record<WorldName, number>> = { brokers: 160, servers: 40 };
const BATCH = 20;
/** A batch takes some three seconds of a quiet core, and twice that with servers. */
const LIMIT_MS = patience(20_000);

/** Two processes may hold the same lease. */
const withoutLeases: Weaken = (store) => ({
  ...store,
  create: async (record) => {
    if (record.key.kind === "refresh") await store.delete(record.key);
    return store.create(record);
  },
});

describe.each(Object.keys(SEEDS) as WorldName[])("%s, a store, vendors and an attacker", (world) => {
  const runSeed = WORLDS[world];
  const batches = Array.from({ length: SEEDS[world] / BATCH }, (_, index) => index * BATCH + 1);

  it.each(batches)("keep every promise from seed %i on", { timeout: LIMIT_MS }, async (first) => {
    for (let seed = first; seed < first + BATCH; seed += 1) {
      expect({ seed, broken: (await runSeed(seed)).broken }).toEqual({ seed, broken: [] });
    }
  });

  it("keep them with the seeds that were red once", async () => {
    for (const { seed, issue, ...options } of ONCE_RED.filter((one) => one.world === world)) {
      expect({ issue, broken: (await runSeed(seed, options)).broken }).toEqual({ issue, broken: [] });
    }
  });

  it("tell the same story for the same seed", async () => {
    // The only random text in a story is the stage of the keyset.
    const tell = async (): Promise<string[]> => (await runSeed(7)).story.filter((line) => !line.includes("keyset"));
    expect(await tell()).toEqual(await tell());
  });
});

async function firstRed(world: WorldName, weaken: Weaken): Promise<Outcome> {
  for (let seed = 1; seed <= 100; seed += 1) {
    const outcome = await WORLDS[world](seed, { weaken });
    if (outcome.broken.length > 0) return outcome;
  }
  throw new Error("the planted defect was not found");
}

describe("the simulator", { timeout: LIMIT_MS }, () => {
  it("finds a store that moves a record from any stage", async () => {
    expect((await firstRed("brokers", withoutConditions)).broken.join()).toMatch(/was used twice/);
  });

  it.each([
    ["brokers", withoutLeases, /sent twice at a time|was lost/, 4],
    ["servers", withoutConditions, /cannot sign in|was used twice/, 3],
  ] as const)(
    "reduces a red seed of %s to one actor, who breaks the same promise",
    async (world, weaken, how, tries) => {
      const runSeed = WORLDS[world];
      const red = await firstRed(world, weaken);
      expect(red.broken.join()).toMatch(how);
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
    },
  );

  it("does not reduce a green seed", async () => {
    expect(await shrink(WORLDS.brokers, 1, { actors: ["anna"] })).toBeUndefined();
  });
});
