/** The twins of keyset-place.test.ts: one defence off each, and the keyset is taken. */
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import {
  FLOORS,
  keysetOn,
  keysetsInFile,
  keysetStage,
  PRODUCTION,
  rotatedAndPutBack,
  STAGING,
  stagingInProduction,
} from "../testing/keyset-stage.ts";

const stage = keysetStage();

it("opens where it is bound to nothing (twin of bar#TS-3)", async () => {
  vi.doMock("./keyset-binding.ts", async (original) => {
    const module = await original<typeof import("./keyset-binding.ts")>();
    return { ...module, bindingOf: () => module.UNBOUND };
  });
  const { ours, staging } = await stagingInProduction(stage);
  vi.doUnmock("./keyset-binding.ts");
  await ours.load();
  expect(ours.active("state")).toEqual(staging.active("state"));
});

it("opens as a key file where nothing compares (twin)", async () => {
  vi.doMock("./keyset-binding.ts", async (original) => ({
    ...(await original<object>()),
    requireSameBaseUrl: () => undefined,
  }));
  const path = join(stage.folder, "keys.json");
  const at = await keysetsInFile(path);
  vi.doUnmock("./keyset-binding.ts");
  const [staging, production] = [at(STAGING.baseUrl), at(PRODUCTION.baseUrl)];
  await staging.load();
  await production.load();
  expect(production.active("state")).toEqual(staging.active("state"));
});
it.each(FLOORS)("is taken where nothing asks for the floor in $name (twin)", async ({ floorOf }) => {
  vi.doMock("./keyset-floor.ts", async (original) => ({
    ...(await original<object>()),
    requireRevision: () => undefined,
  }));
  const records = await rotatedAndPutBack(stage, floorOf(stage));
  const restarted = await keysetOn(records, stage, floorOf(stage));
  vi.doUnmock("./keyset-floor.ts");
  await restarted.load();
  expect(restarted.describe()).toHaveLength(1);
});
