/** The simulator itself: seeds keep every promise, tell the same story again, and find a defence that is gone. */
import { patience } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Weaken } from "../world/store.ts";
import { ONCE_RED } from "./once-red.ts";
import { withoutConditions, withoutLeases } from "./weakened.ts";
import { type WorldName, WORLDS } from "./worlds.ts";

/** Bound by the CPU, so not in the soak, whose files have deadlines. Other seeds run weekly: mutations.yml. */
const SEEDS: Readonly<Record<WorldName, number>> = { brokers: 160, servers: 40 };
const BATCH = 20;
/** A batch takes some three seconds of a quiet core, and twice that with servers. */
const LIMIT_MS = patience(20_000);

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

/** What is found within 100 seeds. */
async function firstBroken(weaken: Weaken): Promise<readonly string[]> {
  for (let seed = 1; seed <= 100; seed += 1) {
    const { broken } = await WORLDS.brokers(seed, { weaken });
    if (broken.length > 0) return broken;
  }
  return [];
}

describe("the simulator finds", { timeout: LIMIT_MS }, () => {
  it("a store that moves a record from any stage", async () => {
    expect((await firstBroken(withoutConditions)).join()).toMatch(/was used twice/);
  });

  it("a store that gives one lease to several", async () => {
    expect((await firstBroken(withoutLeases)).join()).toMatch(/sent twice at a time|was lost/);
  });
});
