/**
 * Four broker processes on one DynamoDB table, their keys sealed under one KMS key: the same races
 * as on SQLite (races.test.ts), and afterwards nothing readable of any of those flows in the table.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
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

const ROUNDS = volume({ test: 2, soak: 12 });

let aws: AwsHarness;
let harness: RaceHarness;
beforeAll(async () => {
  aws = await startAws();
  harness = await startRaceHarness({ processes: 4, store: aws.store, keys: aws.keys, env: aws.env });
});
afterAll(async () => {
  await harness.close();
  await aws.close();
});

describe("of 50 uses at once over four processes", () => {
  it("rfc9126#2.2 exactly one browser leaves with a request_uri", () => expectOneBrowser(harness, ROUNDS));
  it("bar#CB-3 exactly one use of a state comes back with a code", () => expectOneCallback(harness, ROUNDS));
  it("bar#XA-8 exactly one use of a code gets tokens, and the vendor is asked once", () =>
    expectOneRedeemer(harness, ROUNDS));
  it("bar#XA-7 a wrong verifier among right ones lets at most one of them through", () =>
    expectRightVerifierOnly(harness, ROUNDS));
  it("rfc7523#3 exactly one use of a client assertion is taken", () => expectOneAssertion(harness, ROUNDS));
});

describe("refresh over four processes", () => {
  it("bar#RF-1 makes one vendor call for 100 callers, who all get the same answer", () =>
    expectOneVendorCall(harness, volume({ test: 2, soak: 5 })));
});

describe("a flow over four processes", () => {
  it("may visit another process at each leg", () => expectFlowOverProcesses(harness));
  it("is finished after `keys rotate`, from whichever leg it was on", () => expectFlowsOverRotation(harness));
});

describe("KMS", () => {
  it("was called by each start, by the rotation and by each reader, and no more", () => {
    const { GenerateDataKey: made = 0, Decrypt: opened = 0, ...others } = aws.kms.calls();
    expect(others).toEqual({});
    // At most 5 created (one by each process at the start, one by `keys rotate`) and 10 opened (by
    // each process at the start and after the rotation, by `keys rotate` and `keys list`); the SDK
    // may retry on a busy machine.
    expect(made + opened).toBeLessThanOrEqual(2 * (5 + 10));
  });
});

describe("what is left in the table", () => {
  it("holds no token, code, verifier, state, cookie or secret of all those flows", async () => {
    const { found, items, secrets } = await aws.scan();
    expect(found).toEqual([]);
    expect(items).toBeGreaterThan(4 * ROUNDS);
    expect(secrets).toBeGreaterThan(items);
  });
});
