/**
 * The attack of store-on-records.test.ts without the binding: a secret opens for an endpoint it was
 * not entered for.
 */
import { Secret } from "@oauth-broker/oauth-core";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { afterEach, expect, it } from "vitest";
import { CLIENT, openTestStorage, type TestStorage } from "../testing/test-storage.ts";
import * as settingsOfConnectors from "./settings.ts";

let storage: TestStorage;
afterEach(() => storage.close());

it("without the binding, a sealed secret that was moved to another token endpoint opens", async () => {
  weaken(settingsOfConnectors, () => ({ secretRecipient: () => [] }));
  storage = await openTestStorage();
  const { connectors, records } = storage;
  const settings = { ...CLIENT, clientSecret: new Secret("canary-secret") };
  await connectors.create({ id: "notes", name: "Notes", settings });
  const key = { kind: "connector", id: "notes" };
  const { data } = (await records.get(key))!;
  const moved = { ...(data["settings"] as object), tokenUrl: "https://evil.example.com/token" };
  const from = { stage: "draft", expect: { revision: data["revision"] as string } };
  await records.advance(key, from, { stage: "draft", set: { settings: moved, revision: "moved" } });
  expect((await connectors.clientSecret("notes"))?.reveal()).toBe("canary-secret");
});
