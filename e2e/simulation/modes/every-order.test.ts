/** Small scenarios in every order of the answers, some 700; and that an order is found in which a defence is missed. */
import { patience, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { runEveryOrder } from "./every-order.ts";
import { SCENARIOS } from "./scenarios.ts";
import { withoutConditions } from "./weakened.ts";

const LIMIT_MS = patience(120_000);
/** The largest has some 22,600 orders, which take two minutes. */
const RUN = volume({
  test: Object.keys(SCENARIOS).filter((name) => name !== "two-refreshes-and-revoke"),
  soak: Object.keys(SCENARIOS),
});

describe("in every order of the answers", { timeout: LIMIT_MS }, () => {
  it.each(RUN)("%s keeps every promise", async (name) => {
    const { orders, broken, story } = await runEveryOrder(SCENARIOS[name]!);
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
