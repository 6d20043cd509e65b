/** The keyset rotates under two brokers on one store while flows are under way; no flow fails. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { temporaryFolder } from "../../support/broker/process.ts";
import {
  expectUnknownKeyRefused,
  expectUnnoticedRotation,
  expectUnnoticedRotations,
  type RotationHarness,
  startRotationHarness,
} from "../../support/races/rotation-harness.ts";

const folder = temporaryFolder();
let harness: RotationHarness;
beforeAll(async () => {
  harness = await startRotationHarness({ store: `sqlite:${join(folder, "broker.sqlite")}` });
});
afterAll(async () => {
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a rotation", () => {
  it("is published 60 s before it signs, and what was signed before goes on", () => expectUnnoticedRotation(harness));
  it("completes all flows over several rotations in a row", () =>
    expectUnnoticedRotations(harness, { rotations: 2, flows: 3 }));
  it("refuses a state of an unknown key", () => expectUnknownKeyRefused(harness));
});
