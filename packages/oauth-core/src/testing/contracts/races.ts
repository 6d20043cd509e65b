/**
 * The parts of the RecordStore contract about time and about many callers at once. Called by
 * record-store.ts.
 */
import { describe, expect, it } from "vitest";
import { FROM, KEY, NOW, RECORD } from "./fixture.ts";
import type { WithStore } from "./fixture.ts";

export function describeExpiry(withStore: WithStore): void {
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

    it("takes a time as far as numbers are whole", () =>
      withStore(async (store) => {
        await store.create({ ...RECORD, expiresAt: Number.MAX_SAFE_INTEGER });
        expect((await store.get(KEY))?.keepUntil).toBe(Number.MAX_SAFE_INTEGER);
        expect((await store.advance(KEY, FROM, { stage: "next", set: {} })).outcome).toBe("moved");
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
}

export function describeConcurrency(withStore: WithStore): void {
  describe("concurrency", () => {
    it("bar#CB-3 of 20 parallel advances exactly one is moved, the others see what it wrote", () =>
      withStore(async (store) => {
        await store.create(RECORD);
        const all = await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            store.advance(KEY, FROM, { stage: "spent", set: { attempt: `t${at}` } }),
          ),
        );
        const moved = all.flatMap((advanced) => (advanced.outcome === "moved" ? [advanced.record] : []));
        expect(moved).toHaveLength(1);
        const others = all.filter((advanced) => advanced.outcome !== "moved");
        expect(others).toEqual(Array.from({ length: 19 }, () => ({ outcome: "replayed", record: moved[0] })));
      }));

    it("of 20 parallel creates exactly one is created", () =>
      withStore(async (store) => {
        const all = await Promise.all(Array.from({ length: 20 }, (_, at) => store.create({ ...RECORD, data: { at } })));
        expect(all.filter((outcome) => outcome === "created")).toHaveLength(1);
        expect((await store.get(KEY))?.data).toEqual({ at: all.indexOf("created") });
      }));

    it("of 20 parallel creates over an expired record exactly one is created", () =>
      withStore(async (store, clock) => {
        await store.create({ ...RECORD, keepUntil: NOW + 9999 });
        clock.advance(600);
        const all = await Promise.all(
          Array.from({ length: 20 }, (_, at) => store.create({ ...RECORD, data: { at }, expiresAt: NOW + 700 })),
        );
        expect(all.filter((outcome) => outcome === "created")).toHaveLength(1);
      }));

    it("of 20 parallel takers of a lease one holds it, however often it is given back", () =>
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
        const takers = await Promise.all(Array.from({ length: 20 }, take));
        expect(takers).toContain(true);
        expect((await store.get(KEY))?.stage).toBe("free");
      }));
  });
}
