/** The twins of keyset-place.test.ts: each removes one defence, and the keyset is accepted. */
import { join } from "node:path";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import * as bindings from "./keyset-binding.ts";
import * as floors from "./keyset-floor.ts";
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
  weaken(bindings, ({ UNBOUND }) => ({ bindingOf: () => UNBOUND }));
  const { ours, staging } = await stagingInProduction(fixture);
  await ours.load();
  expect(ours.active("state")).toEqual(staging.active("state"));
});

it("opens as a key file when nothing compares the place (twin)", async () => {
  weaken(bindings, () => ({ requireSameBaseUrl: () => {} }));
  const path = join(fixture.folder, "keys.json");
  const at = keysetsInFile(path);
  const [staging, production] = [at(STAGING.baseUrl), at(PRODUCTION.baseUrl)];
  await staging.load();
  await production.load();
  expect(production.active("state")).toEqual(staging.active("state"));
});
it.each(FLOORS)("is accepted when nothing checks the floor in $name (twin)", async ({ floorOf }) => {
  weaken(floors, () => ({ requireRevision: () => {} }));
  const records = await rotatedAndPutBack(fixture, floorOf(fixture));
  const restarted = keysetOn(records, fixture, floorOf(fixture));
  await restarted.load();
  expect(restarted.describe()).toHaveLength(1);
});

it.each(FLOORS)("is made anew without a word when nothing asks $name (twin)", async ({ floorOf }) => {
  weaken(floors, () => ({ requireNoneInUse: () => {} }));
  const records = await rotatedAndPutBack(fixture, floorOf(fixture));
  await records.delete(KEYSET);
  const restarted = keysetOn(records, fixture, floorOf(fixture));
  await restarted.load();
  expect(restarted.describe()).toHaveLength(1);
});
