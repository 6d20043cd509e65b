/**
 * What every RecordStore must do, run by each adapter's own test. Flows, codes, leases and key sets rest on it: if this
 * suite is green on an adapter, a code cannot be spent twice there.
 */
import { describe, expect, it } from "vitest";
import type { Advanced, Clock, NewRecord, RecordStore } from "../ports.ts";
import { fixedClock } from "./fixed-clock.ts";

const NOW = 1_700_000_000;
const KEY = { kind: "flow", id: "f1" };
const RECORD: NewRecord = {
  key: KEY,
  stage: "pushed",
  data: { client: "platform", code: "c1", count: 1, nested: { a: 1, b: 2 }, list: ["x"] },
  expiresAt: NOW + 600,
};
const FROM = { stage: "pushed", expect: { client: "platform", code: "c1" } };

/** @param factory makes an empty store on the given clock; `dispose` closes it and removes what it left */
export function describeRecordStore(
  name: string,
  factory: (clock: Clock) => Promise<{ store: RecordStore; dispose(): Promise<void> }>,
): void {
  describe(`RecordStore: ${name}`, () => {
    const withStore = async (
      test: (store: RecordStore, clock: ReturnType<typeof fixedClock>) => Promise<void>,
    ): Promise<void> => {
      const clock = fixedClock(NOW);
      const made = await factory(clock);
      try {
        await test(made.store, clock);
      } finally {
        await made.dispose();
      }
    };

    describe("get and create", () => {
      it("answers what was created", () =>
        withStore(async (store) => {
          expect(await store.get(KEY)).toBeUndefined();
          expect(await store.create(RECORD)).toBe("created");
          expect(await store.get(KEY)).toEqual({ ...RECORD, keepUntil: RECORD.expiresAt });
        }));

      it("does not replace a live record", () =>
        withStore(async (store) => {
          await store.create(RECORD);
          expect(await store.create({ ...RECORD, stage: "other", data: {} })).toBe("exists");
          expect(await store.get(KEY)).toEqual({ ...RECORD, keepUntil: RECORD.expiresAt });
        }));

      it("keeps kinds and ids apart, whatever characters they hold", () =>
        withStore(async (store) => {
          const keys = [
            { kind: "a", id: "bc" },
            { kind: "ab", id: "c" },
            { kind: "a", id: "BC" },
            { kind: "a", id: "b%" },
            { kind: "a", id: "' or 1=1 --" },
            { kind: "a", id: "\u{1f511}" },
          ];
          for (const key of keys) expect(await store.create({ ...RECORD, key, data: { id: key.id } })).toBe("created");
          for (const key of keys) expect(await store.get(key)).toMatchObject({ key, data: { id: key.id } });
        }));

      it("gives every JSON value back as it was", () =>
        withStore(async (store) => {
          const data = {
            text: 'quote " backslash \\ newline \n nul \u0000 separator \u2028 accent é key \u{1f511}',
            empty: "",
            number: -1.5e-7,
            large: Number.MAX_SAFE_INTEGER,
            yes: true,
            nothing: null,
            list: [1, "two", [3], { four: 4 }],
            object: { "any name": { deep: [] } },
          };
          await store.create({ ...RECORD, data });
          expect((await store.get(KEY))?.data).toEqual(data);
          const moved = await store.advance(
            KEY,
            { stage: "pushed", expect: { text: data.text, empty: "" } },
            { stage: "next", set: { again: data } },
          );
          expect(moved).toMatchObject({ outcome: "moved", record: { data: { ...data, again: data } } });
        }));

      it("is not changed by changes to objects that went in or came out", () =>
        withStore(async (store) => {
          const data = { list: ["x"] };
          await store.create({ ...RECORD, data });
          data.list.push("in");
          const out = await store.get(KEY);
          (out!.data["list"] as string[]).push("out");
          expect((await store.get(KEY))?.data).toEqual({ list: ["x"] });
        }));
    });

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
          expect(
            await store.advance(KEY, { stage: "pushed", expect: expected }, { stage: "started", set: {} }),
          ).toEqual({ outcome: "absent" });
          expect(await store.advance(KEY, { stage: "other", expect: expected }, { stage: "started", set: {} })).toEqual(
            { outcome: "absent" },
          );
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
            await expect(
              store.advance(KEY, { stage: "pushed", expect: named }, { stage: "s", set: {} }),
            ).rejects.toThrow(TypeError);
            await expect(store.advance(KEY, FROM, { stage: "s", set: named })).rejects.toThrow(TypeError);
            await expect(store.advance(KEY, FROM, { stage: "s", set: {}, remove: [field] })).rejects.toThrow(TypeError);
            expect(await store.get(KEY)).toEqual({ ...RECORD, keepUntil: RECORD.expiresAt });
          }),
      );
    });

    describe("expiry", () => {
      it.each([
        ["one second before", -1, true],
        ["at", 0, false],
        ["one second after", 1, false],
      ])("%s expiresAt: get, advance and create agree", (_when, seconds, lives) =>
        withStore(async (store, clock) => {
          await store.create({ ...RECORD, keepUntil: NOW + 3600 });
          clock.advance(600 + seconds);
          expect((await store.get(KEY)) !== undefined).toBe(lives);
          expect((await store.get(KEY, { includeExpired: true }))?.stage).toBe("pushed");
          expect((await store.advance(KEY, FROM, { stage: "started", set: {} })).outcome).toBe(
            lives ? "moved" : "absent",
          );
          expect((await store.advance(KEY, FROM, { stage: "started", set: {} })).outcome).toBe(
            lives ? "replayed" : "absent",
          );
          const second = { ...RECORD, stage: "second", data: { only: "this" }, expiresAt: NOW + 9999 };
          expect(await store.create(second)).toBe(lives ? "exists" : "created");
          expect((await store.get(KEY, { includeExpired: true }))?.stage).toBe(lives ? "started" : "second");
        }),
      );

      it("replaces an expired record whole", () =>
        withStore(async (store, clock) => {
          await store.create({ ...RECORD, keepUntil: NOW + 5000 });
          clock.advance(600);
          const second = { ...RECORD, stage: "second", data: { only: "this" }, expiresAt: NOW + 700 };
          await store.create(second);
          expect(await store.get(KEY)).toEqual({ ...second, keepUntil: NOW + 700 });
        }));

      it("moves expiresAt with a patch, and keepUntil only forward", () =>
        withStore(async (store, clock) => {
          await store.create({ ...RECORD, keepUntil: NOW + 900 });
          expect(await store.advance(KEY, FROM, { stage: "b", set: {}, expiresAt: NOW + 60 })).toMatchObject({
            record: { expiresAt: NOW + 60, keepUntil: NOW + 900 },
          });
          expect(
            await store.advance(KEY, { ...FROM, stage: "b" }, { stage: "c", set: {}, expiresAt: NOW + 2000 }),
          ).toMatchObject({
            record: { expiresAt: NOW + 2000, keepUntil: NOW + 2000 },
          });
          clock.advance(1999);
          expect((await store.get(KEY))?.stage).toBe("c");
        }));

      it("keeps a record at least until it expires", () =>
        withStore(async (store) => {
          await store.create({ ...RECORD, keepUntil: NOW });
          expect((await store.get(KEY))?.keepUntil).toBe(RECORD.expiresAt);
        }));

      it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses %d as a time", (time) =>
        withStore(async (store) => {
          await expect(store.create({ ...RECORD, expiresAt: time })).rejects.toThrow(TypeError);
          await expect(store.create({ ...RECORD, keepUntil: time })).rejects.toThrow(TypeError);
          await expect(store.advance(KEY, FROM, { stage: "s", set: {}, expiresAt: time })).rejects.toThrow(TypeError);
        }),
      );
    });

    describe("concurrency", () => {
      it("bar#CB-3 of 50 parallel advances exactly one is moved, the others see what it wrote", () =>
        withStore(async (store) => {
          await store.create(RECORD);
          const all = await Promise.all(
            Array.from({ length: 50 }, (_, at) =>
              store.advance(KEY, FROM, { stage: "spent", set: { attempt: `t${at}` } }),
            ),
          );
          const moved = all.flatMap((advanced) => (advanced.outcome === "moved" ? [advanced.record] : []));
          expect(moved).toHaveLength(1);
          const others = all.filter((advanced) => advanced.outcome !== "moved");
          expect(others).toEqual(Array.from({ length: 49 }, () => ({ outcome: "replayed", record: moved[0] })));
        }));

      it("of 50 parallel creates exactly one is created", () =>
        withStore(async (store) => {
          const all = await Promise.all(
            Array.from({ length: 50 }, (_, at) => store.create({ ...RECORD, data: { at } })),
          );
          expect(all.filter((outcome) => outcome === "created")).toHaveLength(1);
          expect((await store.get(KEY))?.data).toEqual({ at: all.indexOf("created") });
        }));

      it("of 50 parallel creates over an expired record exactly one is created", () =>
        withStore(async (store, clock) => {
          await store.create({ ...RECORD, keepUntil: NOW + 9999 });
          clock.advance(600);
          const all = await Promise.all(
            Array.from({ length: 50 }, (_, at) => store.create({ ...RECORD, data: { at }, expiresAt: NOW + 700 })),
          );
          expect(all.filter((outcome) => outcome === "created")).toHaveLength(1);
        }));

      it("of 50 parallel takers of a lease one holds it, however often it is given back", () =>
        withStore(async (store) => {
          await store.create({ ...RECORD, stage: "free", data: {} });
          let holders = 0;
          const take = async (): Promise<boolean> => {
            const taken = await store.advance(KEY, { stage: "free", expect: {} }, { stage: "held", set: {} });
            if (taken.outcome !== "moved") return false;
            holders += 1;
            expect(holders).toBe(1);
            await Promise.resolve();
            holders -= 1;
            return (
              (await store.advance(KEY, { stage: "held", expect: {} }, { stage: "free", set: {} })).outcome === "moved"
            );
          };
          const takers = await Promise.all(Array.from({ length: 50 }, take));
          expect(takers).toContain(true);
          expect((await store.get(KEY))?.stage).toBe("free");
        }));
    });

    describe("the rest", () => {
      it("deletes, twice if asked, and only that key", () =>
        withStore(async (store) => {
          await store.create(RECORD);
          await store.create({ ...RECORD, key: { kind: "flow", id: "f2" } });
          await store.delete(KEY);
          await store.delete(KEY);
          expect(await store.get(KEY, { includeExpired: true })).toBeUndefined();
          expect(await store.get({ kind: "flow", id: "f2" })).toBeDefined();
          expect(await store.create(RECORD)).toBe("created");
        }));

      it("answers a ping until it is closed, then refuses every call as temporarily_unavailable", () =>
        withStore(async (store) => {
          await store.create(RECORD);
          await expect(store.ping()).resolves.toBeUndefined();
          await store.close();
          await store.close();
          const refused = expect.objectContaining({ name: "OAuthError", code: "temporarily_unavailable" });
          await expect(store.ping()).rejects.toEqual(refused);
          await expect(store.get(KEY)).rejects.toEqual(refused);
          await expect(store.create(RECORD)).rejects.toEqual(refused);
          await expect(store.advance(KEY, FROM, { stage: "started", set: {} })).rejects.toEqual(refused);
          await expect(store.delete(KEY)).rejects.toEqual(refused);
        }));
    });
  });
}
