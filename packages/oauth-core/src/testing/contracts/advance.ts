/**
 * The part of the RecordStore contract about the conditional write. Called by
 * record-store.ts.
 */
import { describe, expect, it } from "vitest";
import type { Advanced, JsonObject } from "../../ports.ts";
import { FROM, KEY, NOW, RECORD } from "./fixture.ts";
import type { WithStore } from "./fixture.ts";

export function describeAdvance(withStore: WithStore): void {
  describe("advance", () => {
    it("moves the record and answers it as it now stands", () =>
      withStore(async (store) => {
        await store.create({ ...RECORD, keepUntil: NOW + 900 });
        const advanced = await store.advance(KEY, FROM, {
          stage: "started",
          set: { attempt: "t1", code: "c2" },
          remove: ["list"],
        });
        const record = {
          key: KEY,
          stage: "started",
          data: { client: "platform", code: "c2", count: 1, nested: { a: 1, b: 2 }, attempt: "t1" },
          expiresAt: NOW + 600,
          keepUntil: NOW + 900,
        };
        expect(advanced).toEqual({ outcome: "moved", record });
        expect(await store.get(KEY)).toEqual(record);
      }));

    it("replaces fields whole, never merging into them", () =>
      withStore(async (store) => {
        await store.create(RECORD);
        await store.advance(KEY, FROM, { stage: "started", set: { nested: { c: 3 }, list: [], client: null } });
        expect((await store.get(KEY))?.data).toEqual({
          client: null,
          code: "c1",
          count: 1,
          nested: { c: 3 },
          list: [],
        });
      }));

    it("removes fields, there or not, and sets a field that is both removed and set", () =>
      withStore(async (store) => {
        await store.create(RECORD);
        await store.advance(KEY, FROM, {
          stage: "started",
          set: { count: 2 },
          remove: ["nested", "list", "count", "unknown"],
        });
        expect((await store.get(KEY))?.data).toEqual({ client: "platform", code: "c1", count: 2 });
      }));

    it("bar#CB-3 answers `replayed` with the record when the stage is another one", () =>
      withStore(async (store) => {
        await store.create(RECORD);
        await store.advance(KEY, FROM, { stage: "started", set: { attempt: "t1" } });
        const again = await store.advance(KEY, FROM, { stage: "started", set: { attempt: "t2" } });
        expect(again).toEqual({ outcome: "replayed", record: await store.get(KEY) });
        expect(again).toMatchObject({ record: { stage: "started", data: { attempt: "t1" } } });
      }));

    it("bar#CB-4 lets our own retry recognise itself by its attempt id", () =>
      withStore(async (store) => {
        await store.create(RECORD);
        const patch = { stage: "started", set: { attempt: "t1", answer: "a" } };
        const first = await store.advance(KEY, FROM, patch); // and its answer is lost
        const retry = await store.advance(KEY, FROM, patch);
        const record = first.outcome === "moved" ? first.record : undefined;
        expect(retry).toEqual({ outcome: "replayed", record });
      }));

    it.each<[string, Record<string, string>]>([
      ["another value", { client: "platform", code: "c2" }],
      ["a field the record does not have", { client: "platform", unknown: "" }],
      ["a number written as a string", { count: "1" }],
      ["an object written as a string", { nested: '{"a":1,"b":2}' }],
      ["a list written as a string", { list: '["x"]' }],
      ["a value with its quotes", { code: '"c1"' }],
      ["another case", { code: "C1" }],
      ["a name every object has", { constructor: "c1" }],
    ])("answers `absent` for %s, and changes nothing", (_what, expected) =>
      withStore(async (store) => {
        await store.create(RECORD);
        expect(await store.advance(KEY, { stage: "pushed", expect: expected }, { stage: "started", set: {} })).toEqual({
          outcome: "absent",
        });
        expect(await store.advance(KEY, { stage: "other", expect: expected }, { stage: "started", set: {} })).toEqual({
          outcome: "absent",
        });
        expect(await store.get(KEY)).toEqual({ ...RECORD, keepUntil: RECORD.expiresAt });
      }),
    );

    it("answers `absent` where there is no record", () =>
      withStore(async (store) => {
        expect(await store.advance(KEY, FROM, { stage: "started", set: {} })).toEqual({ outcome: "absent" });
      }));

    it("may stay in its stage when an expected field changes: a version, a lease", () =>
      withStore(async (store) => {
        await store.create({ ...RECORD, stage: "live", data: { version: "1" } });
        const bump = (from: string, to: string): Promise<Advanced> =>
          store.advance(KEY, { stage: "live", expect: { version: from } }, { stage: "live", set: { version: to } });
        expect((await bump("1", "2")).outcome).toBe("moved");
        expect((await bump("1", "2")).outcome).toBe("absent");
        expect((await bump("2", "3")).outcome).toBe("moved");
      }));

    it("refuses a field without a value", () =>
      withStore(async (store) => {
        await store.create(RECORD);
        const patch = { stage: "started", set: { code: undefined } as unknown as JsonObject };
        await expect(store.advance(KEY, FROM, patch)).rejects.toThrow(TypeError);
        expect(await store.get(KEY)).toEqual({ ...RECORD, keepUntil: RECORD.expiresAt });
      }));

    it("refuses a patch after which the same `from` would be true again", () =>
      withStore(async (store) => {
        await store.create(RECORD);
        const idle = { stage: "pushed", set: { count: 2, code: "c1" } };
        await expect(store.advance(KEY, FROM, idle)).rejects.toThrow(TypeError);
        await expect(
          store.advance(KEY, { stage: "pushed", expect: {} }, { stage: "pushed", set: { code: "c2" } }),
        ).rejects.toThrow(TypeError);
        expect(await store.get(KEY)).toEqual({ ...RECORD, keepUntil: RECORD.expiresAt });
      }));

    it.each(['a"."b', "a.b", "$", "$.a", "a[0]", "#-1", "", "1a", "a b", "a'--", "__proto__", "a".repeat(65), "é"])(
      "refuses the field name %j wherever one stands",
      (field) =>
        withStore(async (store) => {
          await store.create(RECORD);
          const named = Object.defineProperty({}, field, { value: "x", enumerable: true }) as Record<string, string>;
          await expect(store.advance(KEY, { stage: "pushed", expect: named }, { stage: "s", set: {} })).rejects.toThrow(
            TypeError,
          );
          await expect(store.advance(KEY, FROM, { stage: "s", set: named })).rejects.toThrow(TypeError);
          await expect(store.advance(KEY, FROM, { stage: "s", set: {}, remove: [field] })).rejects.toThrow(TypeError);
          expect(await store.get(KEY)).toEqual({ ...RECORD, keepUntil: RECORD.expiresAt });
        }),
    );
  });
}
