/** Small scenarios in every order of the answers; and that an order is found in which a defence is missed. */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { runEveryOrder } from "./every-order.ts";
import { SCENARIOS } from "./scenarios.ts";
import { withoutConditions } from "./weakened.ts";

/** Some hundred orders take half a minute of a quiet core: those of the other scenarios are for the soak. */
const SMALL = ["two-callbacks", "two-refreshes"];
const names = volume({ test: SMALL, soak: Object.keys(SCENARIOS) });
const LIMIT_MS = volume({ test: 120_000, soak: 1_200_000 });

describe("in every order of the answers", { timeout: LIMIT_MS }, () => {
  it.each(names)("%s keeps every promise", async (name) => {
    const { orders, broken, story } = await runEveryOrder(SCENARIOS[name]!);
    expect({ broken, story: broken.length > 0 ? story : [] }).toEqual({ broken: [], story: [] });
    expect(orders).toBeGreaterThanOrEqual(20);
  });

  it("finds the order in which a store without conditions parks two answers", async () => {
    const { broken } = await runEveryOrder(SCENARIOS["two-callbacks"]!, { weaken: withoutConditions });
    expect(broken).toContain("a state was used twice");
  });

  it("refuses a scenario with more orders than it may run", async () => {
    const { broken } = await runEveryOrder(SCENARIOS["two-callbacks"]!, { most: 3 });
    expect(broken).toEqual(["more than 3 orders"]);
  });
});
