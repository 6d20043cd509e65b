import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeyWrapper, OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock, shared } from "@oauth-broker/oauth-core/testing";
import { localKeyWrapper } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { RECORD_STORES, type RecordStores } from "../../testing/record-stores.ts";
import { createServerKey } from "./server-key.ts";

const now = fixedClock(1_700_000_000);
const context = { environment: "test", table: "tokens" };
const RECORD = { kind: "server-key", id: "server" };
const UNAVAILABLE = expect.objectContaining({ code: "temporarily_unavailable", status: 503 });

function wrapper(): KeyWrapper {
  const folder = mkdtempSync(join(tmpdir(), "server-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return localKeyWrapper({ path: join(folder, "key") });
}

describe.each(Object.keys(RECORD_STORES))("the server key over %s", (kind) => {
  const stores = shared(async () => (await RECORD_STORES[kind]?.()) as RecordStores);

  it("is the same for all processes, also when ten start at once", async () => {
    const keys = wrapper();
    const records = [await stores.fresh(now), stores.again(now)];
    const all = Array.from({ length: 10 }, (_, index) =>
      createServerKey({ records: records[index % 2] as RecordStore, keys, context }),
    );
    const derived = await Promise.all(all.map((key) => key.derive("token-tag")));
    expect(new Set(await Promise.all(all.map((key) => key.reload())))).toEqual(new Set(["unchanged"]));
    expect(new Set(derived.map((key) => key.toString("hex"))).size).toBe(1);
    expect(derived[0]).toHaveLength(32);
    const later = createServerKey({ records: stores.again(now), keys, context });
    expect(await later.derive("token-tag")).toEqual(derived[0]);
  });
});

describe("the server key", () => {
  it("gives another key for another purpose, and one of its own to every store", async () => {
    const make = (): ReturnType<typeof createServerKey> =>
      createServerKey({ records: memoryRecordStore({ now }), keys: undefined, context });
    const key = make();
    const keys = [await key.derive("token-tag"), await key.derive("vendor-pkce"), await make().derive("token-tag")];
    expect(new Set(keys.map((bytes) => bytes.toString("hex"))).size).toBe(3);
  });

  it("is sealed where there is a wrapper, and opens nowhere else", async () => {
    const records = memoryRecordStore({ now });
    const keys = wrapper();
    await createServerKey({ records, keys, context }).derive("ticket");
    const record = await records.get(RECORD);
    expect(record).toMatchObject({ stage: "sealed", data: { v: 1 } });
    expect(Object.keys(record?.data ?? {}).toSorted()).toEqual(["sealed", "v", "wrapped"]);
    const lost = createServerKey({ records, keys: wrapper(), context }).derive("ticket");
    await expect(lost).rejects.toThrow(UNAVAILABLE);
    await expect(lost).rejects.toMatchObject({ detail: expect.stringMatching(/missing .*If it is lost, delete/) });
    for (const other of [
      { keys, context: { ...context, table: "another" } },
      { keys: undefined, context },
    ]) {
      await expect(createServerKey({ records, ...other }).derive("ticket")).rejects.toThrow(UNAVAILABLE);
    }
  });

  it("bar#TS-7 that is unsealed is refused where there is a wrapper, and stays unchanged", async () => {
    const records = memoryRecordStore({ now });
    const made = await createServerKey({ records, keys: undefined, context }).derive("ticket");
    const plain = await records.get(RECORD);
    const refused = expect.objectContaining({
      code: "temporarily_unavailable",
      detail: expect.stringContaining("ADOPT_UNSEALED_SERVER_KEY"),
    });
    await expect(createServerKey({ records, keys: wrapper(), context }).derive("ticket")).rejects.toThrow(refused);
    expect(await records.get(RECORD)).toEqual(plain);
    // A process without a wrapper goes on.
    expect(await createServerKey({ records, keys: undefined, context }).derive("ticket")).toEqual(made);
  });

  it("that is unsealed is replaced if the operator consents, once for all processes", async () => {
    const records = memoryRecordStore({ now });
    const before = await createServerKey({ records, keys: undefined, context }).derive("ticket");
    const plain = (await records.get(RECORD))?.data["key"] as string;
    expect(plain).toHaveLength(43);
    const keys = wrapper();
    const adopting = { records, keys, context, adoptUnsealed: true };
    const after = await Promise.all([1, 2, 3].map(() => createServerKey(adopting).derive("ticket")));
    expect(new Set(after.map((key) => key.toString("hex"))).size).toBe(1);
    expect(after[0]).not.toEqual(before);
    expect(JSON.stringify(await records.get(RECORD))).not.toContain(plain);
    expect(await createServerKey({ records, keys, context }).derive("ticket")).toEqual(after[0]);
    // A sealed one is never replaced.
    expect(await createServerKey(adopting).derive("ticket")).toEqual(after[0]);
    await expect(createServerKey({ ...adopting, keys: wrapper() }).derive("ticket")).rejects.toThrow(UNAVAILABLE);
  });

  it("is read once, and again after an outage", async () => {
    const store = memoryRecordStore({ now });
    const outage = new OAuthError("temporarily_unavailable", "The record store does not answer");
    let isDown = true;
    let reads = 0;
    const records: RecordStore = {
      ...store,
      get: async (key) => {
        reads += 1;
        if (isDown) throw outage;
        return store.get(key);
      },
    };
    const key = createServerKey({ records, keys: undefined, context });
    await expect(key.derive("ticket")).rejects.toThrow(outage);
    isDown = false;
    const [first, ...others] = await Promise.all([key.derive("ticket"), key.derive("ticket"), key.derive("ticket")]);
    expect(others).toEqual([first, first]);
    isDown = true;
    expect(await key.derive("ticket")).toEqual(first);
    await expect(key.derive("sign-in")).resolves.toHaveLength(32);
    expect(reads).toBe(2);
  });

  it("of a running process is stored again after the table was emptied, for all others", async () => {
    const records = memoryRecordStore({ now });
    const options = { records, keys: wrapper(), context };
    const running = createServerKey(options);
    const before = await running.derive("ticket");
    expect(await running.reload()).toBe("unchanged");
    await records.delete(RECORD);
    expect(await running.reload()).toBe("restored");
    expect(await createServerKey(options).derive("ticket")).toEqual(before);
    expect(await running.derive("ticket")).toEqual(before);
  });

  it("that another process made is taken by one that runs, and what cannot be opened is not", async () => {
    const records = memoryRecordStore({ now });
    const options = { records, keys: wrapper(), context };
    const running = createServerKey(options);
    const before = await running.derive("ticket");
    await records.delete(RECORD);
    const other = await createServerKey(options).derive("ticket");
    expect(other).not.toEqual(before);
    expect(await running.reload()).toBe("changed");
    expect(await running.derive("ticket")).toEqual(other);
    for (const keys of [undefined, wrapper()]) {
      await records.delete(RECORD);
      await createServerKey({ records, keys, context }).derive("ticket");
      await expect(running.reload()).rejects.toThrow(UNAVAILABLE);
      expect(await running.derive("ticket")).toEqual(other);
    }
  });

  it.each([
    ["a later format", { stage: "plain", data: { v: 2, key: "A".repeat(43) } }],
    ["another length", { stage: "plain", data: { v: 1, key: "AAAA" } }],
    ["a part missing", { stage: "sealed", data: { v: 1, wrapped: "AAAA" } }],
  ])("of %s is refused, and never replaced", async (_what, record) => {
    const records = memoryRecordStore({ now });
    await records.create({ key: RECORD, expiresAt: 9_000_000_000, ...record });
    await expect(createServerKey({ records, keys: undefined, context }).derive("ticket")).rejects.toThrow(UNAVAILABLE);
    expect((await records.get(RECORD))?.data).toEqual(record.data);
  });
});
