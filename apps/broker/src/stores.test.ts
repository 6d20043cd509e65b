/**
 * The broker on a DynamoDB table with its keys under KMS: which process creates the keyset, how
 * many KMS calls are made, and what an outage does.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fixedClock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { localKeyWrapper } from "@oauth-broker/token-store";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createBroker } from "./app.ts";
import type { Config } from "./config.ts";
import { createKeyset, PUBLISH_SECONDS } from "./keys/keyset.ts";
import { recordKeysetStorage } from "./keys/keyset-storage.ts";
import { createLog } from "@oauth-broker/service";
import { openStores } from "./stores.ts";
import { testAws } from "./testing/aws.ts";
import { configuration, ISSUER, NOW, testBroker } from "./testing/test-broker.ts";

type Places = Pick<Config, "baseUrl" | "store" | "keys" | "keysMinRevision">;
const placeOf = (store: { readonly region: string; readonly table: string }) => ({
  baseUrl: ISSUER,
  environment: store.region,
  table: store.table,
});

const aws = testAws();
let keyArn: string;
let table: string;
let places: Places;
beforeEach(async () => {
  keyArn = aws.kms.createKey();
  const store = await aws.newStore();
  ({ table } = store);
  places = { baseUrl: ISSUER, store, keys: { kind: "kms", keyArn } };
});
afterEach(() => aws.kms.fault(undefined));

const calls = (): number => Object.values(aws.kms.calls()).reduce((sum, count) => sum + count, 0);

async function keysetOn(config: Places, now = fixedClock(NOW)) {
  const stores = await openStores(config, now);
  onTestFinished(() => stores.close());
  return createKeyset({ storage: stores.keyset, now });
}

/** As a process starts it: nothing loaded yet. */
async function freshBroker(config: Places = places) {
  const broker = await createBroker(configuration({ config }), { log: createLog({ write: () => undefined }) });
  onTestFinished(() => broker.close());
  const get = async (path: string) => {
    const response = await broker.app.request(`${ISSUER}${path}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown>, response };
  };
  return { broker, get };
}

describe("the keyset in a table", () => {
  it("is made once, however many processes start at the same moment", async () => {
    const keysets = await Promise.all(Array.from({ length: 4 }, () => keysetOn(places)));
    await Promise.all(keysets.map((keyset) => keyset.load()));
    expect(new Set(keysets.map((keyset) => keyset.active("state").kid)).size).toBe(1);
    const items = await aws.engine.items(table);
    expect(items.filter(({ sk }) => JSON.stringify(sk).includes("keyset"))).toHaveLength(1);
  });

  it("leaves no key readable in the table", async () => {
    const keyset = await keysetOn(places);
    await keyset.load();
    const items = JSON.stringify(await aws.engine.items(table));
    expect(items).not.toContain("generations");
    expect(items).not.toContain(keyset.active("state").kid);
  });

  it("makes one call to KMS at each start, and no call for flows and reloads", async () => {
    const before = calls();
    const broker = await testBroker({ config: places });
    onTestFinished(() => broker.close());
    expect(calls() - before).toBe(1);
    for (let flow = 0; flow < 3; flow += 1) {
      expect((await broker.connect()).response.status).toBe(200);
      await broker.deps.keyset.load();
    }
    expect(calls() - before).toBe(1);
    await (await keysetOn(places)).load();
    expect(calls() - before).toBe(2);
  });

  it("rotates under a second process: known to it before it is used, one call to KMS each", async () => {
    const now = fixedClock(NOW);
    const [one, two] = [await keysetOn(places, now), await keysetOn(places, now)];
    await one.load();
    await two.load();
    const before = calls();
    const { kid } = await one.rotate();
    now.advance(PUBLISH_SECONDS - 1);
    await two.load();
    expect(two.active("state").kid).not.toBe(kid);
    now.advance(1);
    expect(two.active("state").kid).toBe(kid);
    expect(two.describe()).toHaveLength(2);
    expect(calls() - before).toBe(2);
  });

  it("bar#TS-14 opens after its alias moved to another key, which the next rotation uses", async () => {
    const alias = aws.kms.createAlias("alias/broker", keyArn);
    const config: Places = { ...places, keys: { kind: "kms", keyArn: alias } };
    await (await keysetOn(config)).load();
    aws.kms.createAlias("alias/broker", aws.kms.createKey());
    const moved = await keysetOn(config);
    await moved.load();
    await moved.rotate();
    aws.kms.setKeyState(keyArn, "Disabled");
    const later = await keysetOn(config);
    await later.load();
    expect(later.describe()).toHaveLength(2);
  });
});

describe("a keyset that cannot be opened", () => {
  it("says so when it was sealed under a key file, or the other way round", async () => {
    const folder = temporaryFolder();
    const { records, close } = await openStores(places, fixedClock(NOW));
    onTestFinished(close);
    const wrapper = localKeyWrapper({ path: join(folder, "key") });
    const otherwise = "another key file";
    const place = placeOf({ table, region: aws.engine.region });
    await recordKeysetStorage({ records, place, wrapper, otherwise }).write(undefined, { text: "{}", revision: 1 });
    const { get } = await freshBroker();
    expect(await get("/readyz")).toMatchObject({ status: 503, body: { reason: "keys_unavailable" } });
    const sealedElsewhere = { detail: expect.stringContaining("KMS keys") as string };
    await expect((await keysetOn(places)).load()).rejects.toMatchObject(sealedElsewhere);

    const store = await aws.newStore();
    const other: Places = { ...places, store };
    await (await keysetOn(other)).load();
    const { records: sealed, close: closeSealed } = await openStores(other, fixedClock(NOW));
    onTestFinished(closeSealed);
    const storage = recordKeysetStorage({ records: sealed, place: placeOf(store), wrapper, otherwise });
    await expect(storage.read()).rejects.toMatchObject({ detail: "the keyset was sealed under another key file" });
  });

  it("is not created when the key file is missing, and opens once the file is there", async () => {
    const folder = temporaryFolder();
    const config: Places = { ...places, keys: { kind: "file", path: join(folder, "keys.json") } };
    const { get } = await freshBroker(config);
    expect(await get("/readyz")).toMatchObject({ status: 503, body: { reason: "keys_unavailable" } });
    expect(readdirSync(folder)).toEqual([]);
    await (await keysetOn({ ...config, store: { kind: "memory" } })).load();
    expect((await get("/readyz")).status).toBe(200);
    expect(JSON.stringify(await aws.engine.items(table))).not.toContain("keyset");
  });

  it("has no place beside a table, as the configuration says first", async () => {
    await expect(openStores({ ...places, keys: { kind: "store" } }, fixedClock(NOW))).rejects.toThrow(TypeError);
  });
});

describe("an outage at the start", () => {
  it.each([
    ["KMS throttles", () => aws.kms.fault({ kind: "throttle" })],
    ["KMS fails", () => aws.kms.fault({ kind: "internal" })],
    ["KMS is unavailable", () => aws.kms.fault({ kind: "unavailable" })],
    ["the key is disabled", () => aws.kms.setKeyState(keyArn, "Disabled")],
    ["the role may not use the key", () => aws.kms.permit()],
  ])("bar#TS-12 %s: not ready and no flow, with the reason, and ready by itself afterwards", async (_, begin) => {
    begin();
    const { broker, get } = await freshBroker();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { status, body, response } = await get("/readyz");
      expect({ status, reason: body["reason"] }).toEqual({ status: 503, reason: "kms_unavailable" });
      expect(response.headers.get("retry-after")).toBe("5");
    }
    expect(() => broker.deps.keyset.active("state")).toThrow(
      expect.objectContaining({ code: "temporarily_unavailable" }),
    );
    expect((await get("/healthz")).status).toBe(200);
    aws.kms.fault(undefined);
    aws.kms.setKeyState(keyArn, "Enabled");
    aws.kms.permit("GenerateDataKey", "Decrypt");
    expect((await get("/readyz")).status).toBe(200);
  });

  it("the table is missing: not ready, with the reason, and ready once it is made", async () => {
    const later = `${table}-later`;
    const { get } = await freshBroker({ ...places, store: { ...(await aws.newStore()), table: later } });
    expect(await get("/readyz")).toMatchObject({ status: 503, body: { reason: "store_unavailable" } });
    await aws.engine.createTable(later);
    expect((await get("/readyz")).status).toBe(200);
  });
});

it("goes on without KMS once it has its keys", async () => {
  const broker = await testBroker({ config: places });
  onTestFinished(() => broker.close());
  aws.kms.setKeyState(keyArn, "Disabled");
  await broker.deps.keyset.load();
  expect((await broker.connect()).response.status).toBe(200);
});
