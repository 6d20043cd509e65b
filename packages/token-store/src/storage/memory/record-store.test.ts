import { describe, expect, it } from "vitest";
import { describeRecordStore, fixedClock } from "@oauth-broker/oauth-core/testing";
import type { JsonObject, RecordStore } from "@oauth-broker/oauth-core";
import { memoryRecordStore } from "./record-store.ts";

const NOW = 1_700_000_000;

describeRecordStore("memory", async (now) => {
  const store = memoryRecordStore({ now });
  return { store, dispose: () => store.close() };
});

/**
 * The twin of the contract's concurrency tests: a store whose advance is a read and then a write.
 */
describe("a store that reads and then writes (twin of bar#CB-3)", () => {
  const KEY = { kind: "code", id: "c1" };

  async function naiveAdvance(store: RecordStore): Promise<"moved" | "replayed"> {
    const record = await store.get(KEY);
    if (record?.stage !== "issued") return "replayed";
    await store.delete(KEY);
    await store.create({ ...record, stage: "spent" });
    return "moved";
  }

  it("lets several of 50 parallel uses win", async () => {
    const store = memoryRecordStore({ now: () => NOW });
    await store.create({ key: KEY, stage: "issued", data: {}, expiresAt: NOW + 60 });
    const all = await Promise.all(Array.from({ length: 50 }, () => naiveAdvance(store)));
    expect(all.filter((outcome) => outcome === "moved").length).toBeGreaterThan(1);
  });
});

it("a field called __proto__ is a field like any other, however the record is copied", async () => {
  const store = memoryRecordStore({ now: () => NOW });
  const key = { kind: "flow", id: "f1" };
  const data = JSON.parse('{"__proto__":{"list":[{"polluted":true}]},"gone":"g","code":"c"}') as JsonObject;
  await store.create({ key, stage: "one", data, expiresAt: NOW + 60 });
  const patch = { stage: "two", set: { more: JSON.parse('{"__proto__":"text"}') as JsonObject }, remove: ["gone"] };
  await store.advance(key, { stage: "one", expect: { code: "c" } }, patch);
  const got = (await store.get(key))!.data;
  const expected = '{"__proto__":{"list":[{"polluted":true}]},"code":"c","more":{"__proto__":"text"}}';
  expect(JSON.stringify(got)).toBe(expected);
  expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
  expect("list" in {}).toBe(false);
});

describe("housekeeping of a memory store", () => {
  it("drops what is past keepUntil while writes go on, and nothing else", async () => {
    const clock = fixedClock(NOW);
    const store = memoryRecordStore({ now: clock });
    const create = (id: string, keepUntil: number): Promise<string> =>
      store.create({ key: { kind: "flow", id }, stage: "s", data: {}, expiresAt: NOW + 10, keepUntil });
    const present = async (id: string): Promise<boolean> =>
      (await store.get({ kind: "flow", id }, { includeExpired: true })) !== undefined;
    for (let at = 0; at < 1000; at += 1) await create(`due${at}`, NOW + 60);
    for (let at = 0; at < 100; at += 1) await create(`kept${at}`, NOW + 9999);
    clock.advance(59);
    for (let at = 0; at < 1000; at += 1) await create("kept0", NOW + 9999);
    expect(await present("due0")).toBe(true);
    expect(await present("due999")).toBe(true);
    clock.advance(1);
    // 64 writes look at 256 rows: the whole of these 1100 within 512 writes, wherever the pass
    // stood.
    for (let at = 0; at < 512; at += 1) await create("kept0", NOW + 9999);
    for (let at = 0; at < 1000; at += 1) expect(await present(`due${at}`)).toBe(false);
    for (let at = 0; at < 100; at += 1) expect(await present(`kept${at}`)).toBe(true);
  });
});
