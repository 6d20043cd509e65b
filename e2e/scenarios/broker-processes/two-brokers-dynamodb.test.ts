/**
 * Two broker processes on one DynamoDB table, their keys sealed under one KMS key: flows from one to
 * the other, and afterwards nothing readable of them in the table. That what may be used once is used
 * once: the simulator, and the table's own contract between processes.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { expectFlowsOverRotation, expectFlowOverProcesses } from "../../support/races/moving-flows.ts";
import { type RaceHarness, startRaceHarness } from "../../support/races/harness.ts";

let aws: AwsHarness;
let harness: RaceHarness;
beforeAll(async () => {
  aws = await startAws();
  harness = await startRaceHarness({ processes: 2, store: aws.store, keys: aws.keys, env: aws.env });
});
afterAll(async () => {
  await harness.close();
  await aws.close();
});

describe("a flow over two processes", () => {
  it("may visit another process at each leg", () => expectFlowOverProcesses(harness));
  it("is finished after `keys rotate`, from whichever leg it was on", () => expectFlowsOverRotation(harness));
});

describe("KMS", () => {
  it("was called by each start, by the rotation and by each reader, and no more", () => {
    const { GenerateDataKey: made = 0, Decrypt: opened = 0, ...others } = aws.kms.calls();
    expect(others).toEqual({});
    // At most 3 created (one by each process at the start, one by `keys rotate`) and 6 opened (by
    // each process at the start and after the rotation, by `keys rotate` and `keys list`); the SDK
    // may retry on a busy machine.
    expect(made + opened).toBeLessThanOrEqual(2 * (3 + 6));
  });
});

describe("what is left in the table", () => {
  it("holds no token, code, verifier, state, cookie or secret of all those flows", async () => {
    const { found, items, secrets } = await aws.scan();
    expect(found).toEqual([]);
    expect(items).toBeGreaterThan(4);
    expect(secrets).toBeGreaterThan(items);
  });
});
