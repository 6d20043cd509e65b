/** The twins of keyset-place.test.ts: each removes one defence, and the keyset is accepted. */
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import {
  FLOORS,
  KEYSET,
  keysetOn,
  keysetsInFile,
  keysetFixture,
  PRODUCTION,
  rotatedAndPutBack,
  STAGING,
  stagingInProduction,
} from "../testing/keyset-fixture.ts";

const fixture = keysetFixture();

it("opens when it is bound to nothing (twin of bar#TS-3)", async () => {
  vi.doMock("./keyset-binding.ts", async (original) => {
    const module = await original<typeof import("./keyset-binding.ts")>();
    return { ...module, bindingOf: () => module.UNBOUND };
  });
  const { ours, staging } = await stagingInProduction(fixture);
  vi.doUnmock("./keyset-binding.ts");
  await ours.load();
  expect(ours.active("state")).toEqual(staging.active("state"));
});

it("opens as a key file when nothing compares the place (twin)", async () => {
  vi.doMock("./keyset-binding.ts", async (original) => ({
    ...(await original<object>()),
    requireSameBaseUrl: () => undefined,
  }));
  const path = join(fixture.folder, "keys.json");
  const at = await keysetsInFile(path);
  vi.doUnmock("./keyset-binding.ts");
  const [staging, production] = [at(STAGING.baseUrl), at(PRODUCTION.baseUrl)];
  await staging.load();
  await production.load();
  expect(production.active("state")).toEqual(staging.active("state"));
});
it.each(FLOORS)("is accepted when nothing checks the floor in $name (twin)", async ({ floorOf }) => {
  vi.doMock("./keyset-floor.ts", async (original) => ({
    ...(await original<object>()),
    requireRevision: () => undefined,
  }));
  const records = await rotatedAndPutBack(fixture, floorOf(fixture));
  const restarted = await keysetOn(records, fixture, floorOf(fixture));
  vi.doUnmock("./keyset-floor.ts");
  await restarted.load();
  expect(restarted.describe()).toHaveLength(1);
});

it.each(FLOORS)("is made anew without a word when nothing asks $name (twin)", async ({ floorOf }) => {
  vi.doMock("./keyset-floor.ts", async (original) => ({
    ...(await original<object>()),
    requireNoneInUse: () => undefined,
  }));
  const records = await rotatedAndPutBack(fixture, floorOf(fixture));
  await records.delete(KEYSET);
  const restarted = await keysetOn(records, fixture, floorOf(fixture));
  vi.doUnmock("./keyset-floor.ts");
  await restarted.load();
  expect(restarted.describe()).toHaveLength(1);
});
