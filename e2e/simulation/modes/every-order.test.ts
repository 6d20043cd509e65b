/** Small scenarios in every order of the answers, some 600; and that an order is found in which a defence is missed. */
import { patience } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { runEveryOrder } from "./every-order.ts";
import { SCENARIOS } from "./scenarios.ts";
import { withoutConditions } from "./weakened.ts";

const LIMIT_MS = patience(30_000);

describe("in every order of the answers", { timeout: LIMIT_MS }, () => {
  it.each(Object.entries(SCENARIOS))("%s keeps every promise", async (_, scenario) => {
    const { orders, broken, story } = await runEveryOrder(scenario);
    expect({ broken, story: broken.length > 0 ? story : [] }).toEqual({ broken: [], story: [] });
    expect(orders).toBeGreaterThan(3);
  });

  it("finds the order in which a store without conditions gives a code twice", async () => {
    const { broken } = await runEveryOrder(SCENARIOS["redemption-and-replay"]!, { weaken: withoutConditions });
    expect(broken).toContain("a vendor's code was used twice");
  });

  it("refuses a scenario with more orders than it may run", async () => {
    const { broken } = await runEveryOrder(SCENARIOS["two-callbacks"]!, { most: 3 });
    expect(broken).toEqual(["more than 3 orders"]);
  });
});
