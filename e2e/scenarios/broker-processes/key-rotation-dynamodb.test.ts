/**
 * Like key-rotation.test.ts, on a DynamoDB table with the keyset sealed under KMS; the KMS key
 * rotates too.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import {
  expectUnknownKeyRefused,
  expectUnnoticedRotation,
  expectUnnoticedRotations,
  type RotationHarness,
  startRotationHarness,
} from "../../support/races/rotation-harness.ts";

let aws: AwsHarness;
let harness: RotationHarness;
beforeAll(async () => {
  aws = await startAws();
  for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
  harness = await startRotationHarness({ store: aws.store, keys: aws.keys });
});
afterAll(async () => {
  await harness.close();
  await aws.close();
});

const calls = (): number => Object.values(aws.kms.calls()).reduce((sum, count) => sum + count, 0);

describe("a rotation", () => {
  it("is published 60 s before it signs, and what was signed before goes on", () => expectUnnoticedRotation(harness));

  it("completes all flows over several rotations in a row, with two KMS calls for each rotation", async () => {
    const before = calls();
    const size = { rotations: 2, flows: 3 };
    await expectUnnoticedRotations(harness, size);
    // One data key created, and one opened by the other process.
    expect(calls() - before).toBeLessThanOrEqual(2 * size.rotations);
  });

  it("bar#TS-14 of the KMS key's own material affects no flow", async () => {
    aws.kms.rotateKey(aws.keyArn);
    await expectUnnoticedRotation(harness);
  });

  it("refuses a state of an unknown key", () => expectUnknownKeyRefused(harness));
});
