import type { Clock, JsonObject, RecordKey, RecordStore, StoredRecord } from "@oauth-broker/oauth-core";
import { OAuthError } from "@oauth-broker/oauth-core";
import { describeRecordStore, fixedClock } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { authenticatedRecords, type MacKey, oneMacKey } from "./authenticated-records.ts";
import { memoryRecordStore } from "./memory/record-store.ts";

const NOW = 1_700_000_000;
const SECRET = Buffer.alloc(32, 7);
const keys = oneMacKey(async () => SECRET);
const over = (records: RecordStore): RecordStore => authenticatedRecords({ records, keys });

// On memory alone: the model tests show that SQLite and DynamoDB answer any calls as it does.
describeRecordStore("authenticated, memory", async (now) => {
  const store = over(memoryRecordStore({ now }));
  return { store, dispose: () => store.close() };
});

const KEY: RecordKey = { kind: "session", id: "s1" };
const RECORD = {
  key: KEY,
  stage: "live",
  data: { user: "attacker", hash: "h1", list: [{ a: 1, b: "2" }] },
  expiresAt: NOW + 600,
};
const FROM = { stage: "live", expect: { hash: "h1" } };
const NEXT = { stage: "live", set: { hash: "h2" } };

/** A table that an attacker writes without the key. */
function openTable(now: Clock = fixedClock(NOW)) {
  const table = memoryRecordStore({ now });
  const refused: string[] = [];
  const store = authenticatedRecords({ records: table, keys, onRefused: (kind) => void refused.push(kind) });
  const plant = async (change: Partial<StoredRecord>, from: RecordKey = KEY): Promise<void> => {
    const row = await table.get(from, { includeExpired: true });
    if (row === undefined) throw new Error("there is no row");
    const { keepUntil: _, ...planted } = { ...row, ...change };
    await table.delete(planted.key);
    await table.create(planted);
  };
  const data = async (): Promise<JsonObject> => (await table.get(KEY))?.data ?? {};
  return { table, store, refused, plant, data };
}

function withoutMac(data: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== "mac"));
}

describe("a row that was written without the key", () => {
  it.each<[string, (data: JsonObject) => Partial<StoredRecord>]>([
    ["another user", (data) => ({ data: { ...data, user: "victim" } })],
    ["a field more", (data) => ({ data: { ...data, scope: ["admin"] } })],
    ["a field less", ({ user, mac }) => ({ data: { user, mac } as JsonObject })],
    ["a value of another type", (data) => ({ data: { ...data, list: [{ a: "1", b: "2" }] } })],
    ["another stage", () => ({ stage: "ended" })],
    ["a later end", () => ({ expiresAt: NOW + 6000 })],
    ["another id", () => ({ key: { kind: "session", id: "s2" } })],
    ["another kind", () => ({ key: { kind: "client", id: "s1" } })],
    ["the same letters cut another way", () => ({ key: { kind: "sessio", id: "ns1" } })],
    ["no MAC", (data) => ({ data: withoutMac(data) })],
    ["an empty MAC", (data) => ({ data: { ...data, mac: "" } })],
    ["a MAC that is no text", (data) => ({ data: { ...data, mac: [data["mac"] ?? ""] } })],
    ["a MAC with a character more", (data) => ({ data: { ...data, mac: `${data["mac"] as string}A` } })],
  ])("bar#TS-3 is no record: %s", async (_what, change) => {
    const { store, table, refused, plant, data } = openTable();
    await store.create(RECORD);
    // What this process has verified lends nothing to another row.
    expect(await store.get(KEY)).toMatchObject({ data: RECORD.data });
    const changed = change(await data());
    await plant(changed);
    const at = changed.key ?? KEY;
    expect(await store.get(at)).toBeUndefined();
    expect(
      await store.advance(at, { stage: changed.stage ?? "live", expect: {} }, { stage: "spent", set: {} }),
    ).toEqual({
      outcome: "absent",
    });
    expect(refused).toEqual([at.kind, at.kind]);
    // The row stays: an attacker who planted it blocks this name, and no more.
    expect(await store.create({ ...RECORD, key: at })).toBe("exists");
    expect(await table.get(at)).toMatchObject({ data: changed.data ?? {} });
  });

  it("is no record under another key, and an outage of the key is one of the store", async () => {
    const { store, table } = openTable();
    await store.create(RECORD);
    const other = authenticatedRecords({ records: table, keys: oneMacKey(async () => Buffer.alloc(32, 8)) });
    expect(await other.get(KEY)).toBeUndefined();
    const outage = new OAuthError("temporarily_unavailable", "The server key cannot be opened");
    const without = authenticatedRecords({ records: table, keys: oneMacKey(() => Promise.reject(outage)) });
    await expect(without.get(KEY)).rejects.toThrow(outage);
    await expect(without.create({ ...RECORD, key: { kind: "session", id: "s3" } })).rejects.toThrow(outage);
    await expect(without.advance(KEY, FROM, NEXT)).rejects.toThrow(outage);
    expect(await store.get(KEY)).toMatchObject({ data: RECORD.data });
  });

  it("is not made good by an advance that read it before it was changed", async () => {
    const { table, plant, data } = openTable();
    const store = authenticatedRecords({
      keys,
      records: {
        ...table,
        advance: async (name, from, patch) => {
          await plant({ data: { ...(await data()), user: "victim" } });
          return table.advance(name, from, patch);
        },
      },
    });
    await store.create(RECORD);
    expect(await store.advance(KEY, FROM, NEXT)).toEqual({ outcome: "absent" });
    expect(await store.get(KEY)).toBeUndefined();
  });

  it("bar#TS-3 is not made good by an advance of what this process verified before", async () => {
    const { store, refused, plant, data } = openTable();
    await store.create(RECORD);
    await store.get(KEY);
    await plant({ data: { ...(await data()), user: "victim" } });
    expect(await store.advance(KEY, FROM, NEXT)).toEqual({ outcome: "absent" });
    expect(refused).toContain(KEY.kind);
    expect(await store.get(KEY)).toBeUndefined();
  });

  it("is a record when it is an older copy of that very record: no MAC detects it", async () => {
    const { store, table } = openTable();
    await store.create(RECORD);
    const copy = await table.get(KEY);
    await store.advance(KEY, FROM, { stage: "spent", set: {} });
    await table.delete(KEY);
    await table.create({ ...RECORD, data: copy?.data ?? {} });
    expect(await store.get(KEY)).toMatchObject({ stage: "live" });
  });
});

describe("keys that rotate", () => {
  const [OLD, NEW]: [MacKey, MacKey] = [
    { kid: "k-1", key: Buffer.alloc(32, 1) },
    { kid: "k_2", key: Buffer.alloc(32, 2) },
  ];
  function rotating() {
    const table = memoryRecordStore({ now: fixedClock(NOW) });
    const known = [OLD];
    const store = authenticatedRecords({
      records: table,
      keys: {
        active: async () => known.at(-1) ?? OLD,
        find: async (kid) => known.find((one) => one.kid === kid)?.key,
      },
    });
    return { table, known, store };
  }

  it("name the key of each MAC, and an advance writes one under the newest", async () => {
    const { table, known, store } = rotating();
    await store.create(RECORD);
    expect((await table.get(KEY))?.data["mac"]).toMatch(/^k-1\.[\w-]{43}$/);
    known.push(NEW);
    expect(await store.get(KEY)).toMatchObject({ data: RECORD.data });
    expect((await store.advance(KEY, FROM, NEXT)).outcome).toBe("moved");
    expect((await table.get(KEY))?.data["mac"]).toMatch(/^k_2\.[\w-]{43}$/);
    expect(await store.get(KEY)).toMatchObject({ data: { ...RECORD.data, ...NEXT.set } });
  });

  it("bar#TS-3 are not mixed up: neither a retired key nor another one's name counts", async () => {
    const { table, known, store } = rotating();
    await store.create(RECORD);
    await store.get(KEY);
    known.splice(0, 1, NEW);
    expect((await store.advance(KEY, FROM, NEXT)).outcome).toBe("absent");
    expect(await store.get(KEY)).toBeUndefined();
    const data = (await table.get(KEY))?.data ?? {};
    await table.delete(KEY);
    await table.create({ ...RECORD, data: { ...data, mac: (data["mac"] as string).replace("k-1", "k_2") } });
    expect(await store.get(KEY)).toBeUndefined();
  });
});

describe("authenticated records", () => {
  it("hold their MAC in a field that callers neither see nor name", async () => {
    const { store, data } = openTable();
    await store.create(RECORD);
    expect(await data()).toEqual({ ...RECORD.data, mac: expect.stringMatching(/^[\w-]{43}$/) });
    expect((await store.get(KEY))?.data).toEqual(RECORD.data);
    for (const patch of [
      { stage: "spent", set: { mac: "A" } },
      { stage: "spent", set: {}, remove: ["mac"] },
    ]) {
      await expect(store.advance(KEY, FROM, patch)).rejects.toThrow(TypeError);
    }
    await expect(store.advance(KEY, { stage: "live", expect: { mac: "A" } }, NEXT)).rejects.toThrow(TypeError);
    await expect(store.create({ ...RECORD, data: { mac: "A" } })).rejects.toThrow(TypeError);
  });

  it("are read by a get, and by an advance only if this process does not know them as they stand", async () => {
    const calls: string[] = [];
    const table = memoryRecordStore({ now: fixedClock(NOW) });
    const counted: RecordStore = {
      ...table,
      get: (...args) => (calls.push("get"), table.get(...args)),
      advance: (...args) => (calls.push("advance"), table.advance(...args)),
    };
    const [store, other] = [over(counted), over(table)];
    await store.create(RECORD);
    await store.get(KEY);
    expect(calls.splice(0)).toEqual(["get"]);
    const back = { stage: "live", expect: { hash: "h2" } };
    expect((await store.advance(KEY, FROM, NEXT)).outcome).toBe("moved");
    expect((await store.advance(KEY, back, { stage: "live", set: { hash: "h1" } })).outcome).toBe("moved");
    expect(calls.splice(0)).toEqual(["advance", "advance"]);
    await other.advance(KEY, FROM, { stage: "away", set: {} });
    await other.advance(KEY, { ...FROM, stage: "away" }, { stage: "live", set: { user: "another" } });
    expect(await store.advance(KEY, FROM, NEXT)).toMatchObject({
      outcome: "moved",
      record: { data: { hash: "h2", user: "another" } },
    });
    expect(calls.splice(0)).toEqual(["advance", "get", "advance"]);
    expect((await store.advance(KEY, FROM, NEXT)).outcome).toBe("absent");
    expect(calls).toEqual(["get"]);
  });

  it("bar#CB-3 are used once, also by two processes that both know them", async () => {
    const table = memoryRecordStore({ now: fixedClock(NOW) });
    const [one, other] = [over(table), over(table)];
    await one.create(RECORD);
    await Promise.all([one.get(KEY), other.get(KEY)]);
    const spend = (store: RecordStore) => store.advance(KEY, FROM, { stage: "spent", set: {} });
    const outcomes = (await Promise.all([spend(one), spend(other)])).map(({ outcome }) => outcome);
    expect(outcomes.toSorted()).toEqual(["moved", "replayed"]);
    expect((await spend(one)).outcome).toBe("replayed");
    await table.delete(KEY);
    expect((await other.advance(KEY, { stage: "spent", expect: {} }, NEXT)).outcome).toBe("absent");
  });

  it("are advanced also while others change what was not expected", async () => {
    const { store } = openTable();
    await store.create({ ...RECORD, data: { ...RECORD.data, count: "0" } });
    const counting = Array.from({ length: 20 }, async (_, count) =>
      store.advance(
        KEY,
        { stage: "live", expect: { count: `${count}` } },
        { stage: "live", set: { count: `${count + 1}` } },
      ),
    );
    const [ended] = await Promise.all([
      store.advance(KEY, { stage: "live", expect: {} }, { stage: "ended", set: {} }),
      ...counting,
    ]);
    expect(ended.outcome).toBe("moved");
    expect((await store.get(KEY))?.stage).toBe("ended");
  });

  it("give up on one that changes all the time", async () => {
    const { table } = openTable();
    const restless = over({
      ...table,
      advance: async () => ({ outcome: "absent" }),
    });
    await restless.create(RECORD);
    await expect(restless.advance(KEY, FROM, NEXT)).rejects.toThrow(
      expect.objectContaining({ code: "temporarily_unavailable" }),
    );
  });
});
