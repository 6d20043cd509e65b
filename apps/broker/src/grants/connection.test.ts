/** Which values of `connection` are sealed and opened once for many calls, and whose they stay. */
import { describe, expect, it } from "vitest";
import { choose, testBroker, type TestBroker } from "../testing/test-broker.ts";
import type { VendorChoice } from "../vendor-choice/choose.ts";
import type { Account } from "./account.ts";
import { type Connection, connectionOf, issueConnection, openConnection, sealConnection } from "./connection.ts";

const ACCOUNT = { iss: "https://acme.example", sub: "user-1" };

const PLAIN: Connection = {
  v: 1,
  vendor: "acme",
  credentialsId: "first",
  credentialsSource: "shared",
  hosts: ["acme.example"],
};
const issued = (
  choice: VendorChoice,
  account: Account | undefined,
  clientId: string,
  deps: TestBroker["deps"],
): string => issueConnection(choice, connectionOf(choice, account), clientId, deps);

describe("a value that names no user", () => {
  it("is one for all tokens of a client at an entry", async () => {
    const broker = await testBroker();
    const issue = async (): Promise<string> =>
      issued(await choose(broker, "platform"), undefined, "platform", broker.deps);
    const value = await issue();
    expect(await issue()).toBe(value);
    expect(await openConnection(value, "platform", broker.deps)).not.toHaveProperty("sub");
  });

  it("bar#RF-7 differs per client, and opens for no other client after it was opened", async () => {
    const broker = await testBroker();
    const choice = await choose(broker, "platform");
    const value = issued(choice, undefined, "platform", broker.deps);
    expect(issued(await choose(broker, "other"), undefined, "other", broker.deps)).not.toBe(value);
    expect(issued(choice, undefined, "other", broker.deps)).not.toBe(value);
    await openConnection(value, "platform", broker.deps);
    await expect(openConnection(value, "other", broker.deps)).rejects.toThrow("not one of this client");
  });

  it("bar#RF-7 opens for no client whose id and text together read as those of its owner", async () => {
    const { deps, ...broker } = await testBroker();
    const { kid } = deps.keyset.active("connection");
    const owner = `a${kid}.`;
    const value = sealConnection(connectionOf(await choose({ deps, ...broker }, "platform"), undefined), owner, deps);
    await openConnection(value, owner, deps);
    for (const [text, other] of [
      [`${kid}.${value}`, "a"],
      [value, "a"],
      [`${kid}. ${value}`, "a"],
    ] as const) {
      await expect(openConnection(text, other, deps)).rejects.toThrow("not one of this client");
    }
  });

  it("is sealed anew once another key is active", async () => {
    const { deps, now } = await testBroker();
    const choice = await choose({ deps }, "platform");
    const value = issued(choice, undefined, "platform", deps);
    await deps.keyset.rotate();
    now.advance(60);
    expect(issued(choice, undefined, "platform", deps)).not.toBe(value);
    expect(await openConnection(value, "platform", deps)).toMatchObject({ vendor: "acme" });
  });

  it("bar#RF-7 does not open after its key is gone, though it was opened before", async () => {
    const { deps } = await testBroker();
    const value = sealConnection(PLAIN, "platform", deps);
    await openConnection(value, "platform", deps);
    const keyset = { ...deps.keyset, find: async () => undefined };
    await expect(openConnection(value, "platform", { ...deps, keyset })).rejects.toThrow("not one of this client");
  });

  it("is kept opened for five minutes", async () => {
    const { deps, now } = await testBroker();
    const value = sealConnection(PLAIN, "platform", deps);
    const opened = await openConnection(value, "platform", deps);
    now.advance(299);
    expect(await openConnection(value, "platform", deps)).toBe(opened);
    now.advance(1);
    expect(await openConnection(value, "platform", deps)).not.toBe(opened);
    expect(await openConnection(value, "platform", deps)).toEqual(opened);
  });
});

describe("a value that names a user", () => {
  it("is sealed for each of them", async () => {
    const broker = await testBroker();
    const choice = await choose(broker, "platform");
    const issue = (sub: string): string => issued(choice, { ...ACCOUNT, sub }, "platform", broker.deps);
    const [one, again, other, none] = [
      issue("user-1"),
      issue("user-1"),
      issue("user-2"),
      issued(choice, undefined, "platform", broker.deps),
    ];
    expect(new Set([one, again, other, none]).size).toBe(4);
    expect(await openConnection(other, "platform", broker.deps)).toMatchObject({ sub: "user-2" });
  });

  it.each<Partial<Connection>>([
    ACCOUNT,
    { sub: "user-1" },
    { placeholders: { shop: "users-own" } },
    { issuer: "https://users-own.example" },
    { tokenEndpoint: "https://users-own.example/token" },
    { credentialsSource: "byoc", vendorClientId: "own", hadSecret: true },
    { tokens: { access: "hash" } },
  ])("is opened each time and not kept: %j", async (more) => {
    const { deps } = await testBroker();
    const kept = sealConnection(PLAIN, "platform", deps);
    expect(await openConnection(kept, "platform", deps)).toBe(await openConnection(kept, "platform", deps));
    const value = sealConnection({ ...PLAIN, ...more }, "platform", deps);
    const opened = await openConnection(value, "platform", deps);
    expect(opened).toMatchObject(more);
    expect(await openConnection(value, "platform", deps)).not.toBe(opened);
  });
});
