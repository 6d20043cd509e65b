/** The keyset rotates under two brokers on one store while flows are under way; no flow fails. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { temporaryFolder } from "../support/broker-process.ts";
import {
  expectUnknownKeyRefused,
  expectUnnoticedRotation,
  expectUnnoticedRotations,
  type RotationStage,
  startRotationStage,
} from "../support/rotation-stage.ts";

const folder = temporaryFolder();
let stage: RotationStage;
beforeAll(async () => {
  stage = await startRotationStage({ store: `sqlite:${join(folder, "broker.sqlite")}` });
});
afterAll(async () => {
  await stage.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a rotation", () => {
  it("is published 60 s before it signs, and what was signed before goes on", () => expectUnnoticedRotation(stage));
  it("completes 110 flows over five rotations in a row", () =>
    expectUnnoticedRotations(stage, { rotations: 5, flows: 10 }));
  it("refuses a state of an unknown key", () => expectUnknownKeyRefused(stage));
});
