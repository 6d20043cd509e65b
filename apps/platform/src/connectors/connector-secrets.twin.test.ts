/**
 * The attack of store-on-records.test.ts without the binding: a secret opens for an endpoint it was
 * not entered for.
 */
import { Secret } from "@oauth-broker/oauth-core";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { afterEach, expect, it } from "vitest";
import { CLIENT, moveSecret, openTestStorage, type TestStorage } from "../testing/test-storage.ts";
import * as settingsOfConnectors from "./settings.ts";

let storage: TestStorage;
afterEach(() => storage.close());

it("without the binding, a sealed secret that was moved to another token endpoint opens", async () => {
  weaken(settingsOfConnectors, () => ({ secretRecipient: () => [] }));
  storage = await openTestStorage();
  const { connectors } = storage;
  const settings = { ...CLIENT, clientSecret: new Secret("canary-secret") };
  await connectors.create({ id: "notes", name: "Notes", settings });
  await moveSecret(storage);
  expect((await connectors.clientSecret("notes"))?.reveal()).toBe("canary-secret");
});
