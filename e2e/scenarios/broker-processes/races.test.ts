/**
 * Two broker processes on one SQLite file, and the same request sent to both of them many times at
 * once: exactly one use of everything that may be used once, one vendor call for equal refreshes.
 * Every order of two uses: the simulator. On a table: two-brokers-dynamodb.test.ts.
 */
import { afterAll, beforeAll, describe, it } from "vitest";
import { expectFlowsOverRotation, expectFlowOverProcesses } from "../../support/races/moving-flows.ts";
import { type RaceHarness, startRaceHarness } from "../../support/races/harness.ts";
import {
  expectOneAssertion,
  expectOneRedeemer,
  expectOneVendorCall,
  expectOneBrowser,
  expectOneCallback,
  expectRightVerifierOnly,
} from "../../support/races/races.ts";

const ROUNDS = 2;

let harness: RaceHarness;
beforeAll(async () => {
  harness = await startRaceHarness({ processes: 2, store: "sqlite:./broker.sqlite" });
});
afterAll(() => harness.close());

describe("of 50 uses at once over two processes", () => {
  it("rfc9126#2.2 exactly one browser leaves with a request_uri", () => expectOneBrowser(harness, ROUNDS));
  it("bar#CB-3 exactly one use of a state comes back with a code", () => expectOneCallback(harness, ROUNDS));
  it("bar#XA-8 exactly one use of a code gets tokens, and the vendor is asked once", () =>
    expectOneRedeemer(harness, ROUNDS));
  it("bar#XA-7 a wrong verifier among right ones lets at most one of them through", () =>
    expectRightVerifierOnly(harness, ROUNDS));
  it("rfc7523#3 exactly one use of a client assertion is taken", () => expectOneAssertion(harness, ROUNDS));
});

describe("refresh over two processes", () => {
  it("bar#RF-1 makes one vendor call for 100 callers, who all get the same answer", () =>
    expectOneVendorCall(harness, ROUNDS));
});

describe("a flow over two processes", () => {
  it("may visit another process at each leg", () => expectFlowOverProcesses(harness));
  it("is finished after `keys rotate`, from whichever leg it was on", () => expectFlowsOverRotation(harness));
});
