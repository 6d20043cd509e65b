/** Deployed servers in virtual time: seeds keep every promise. */
import { patience } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { runServerSeed } from "./run-server-seed.ts";

/** Bound by the CPU, so not in the soak. Other seeds run weekly: mutations.yml. */
const SEEDS = 40;
/** Some twelve seconds of a quiet core. */
const LIMIT_MS = patience(30_000);

describe("servers, a store, a key service and two vendors", { timeout: LIMIT_MS }, () => {
  it("keep every promise", async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      expect({ seed, broken: (await runServerSeed(seed)).broken }).toEqual({ seed, broken: [] });
    }
  });
});
