/** Small scenarios in every order of the answers; and that an order is found in which a defence is missed. */
import { describe, expect, it } from "vitest";
import { runEveryOrder } from "./every-order.ts";
import { SCENARIOS } from "./scenarios.ts";
import { withoutConditions } from "./weakened.ts";

/** Some six hundred orders, 20 s of a quiet core. Those of the other run weekly: mutations.yml. */
const SMALL = ["two-callbacks", "two-refreshes", "redemption-and-replay", "two-refreshes-and-revoke"];
const LIMIT_MS = 300_000;

describe("in every order of the answers", { timeout: LIMIT_MS }, () => {
  it.each(SMALL)("%s keeps every promise", async (name) => {
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
