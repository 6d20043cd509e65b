/**
 * What every RecordStore must do, run by each adapter's own test. Flows, codes, leases and key sets
 * depend on it: an adapter that passes cannot let a code be spent twice.
 */
import { describe, expect, it } from "vitest";
import type { Clock, RecordStore } from "../../ports.ts";
import { fixedClock } from "../fixed-clock.ts";
import { describeAdvance } from "./advance.ts";
import { FROM, KEY, NOW, RECORD } from "./fixture.ts";
import type { WithStore } from "./fixture.ts";
import { describeConcurrency, describeExpiry } from "./races.ts";

/**
 * @param factory makes an empty store on the given clock; `dispose` closes it and removes its data
 */
export function describeRecordStore(
  name: string,
  factory: (clock: Clock) => Promise<{ store: RecordStore; dispose(): Promise<void> }>,
): void {
  describe(`RecordStore: ${name}`, () => {
    const withStore: WithStore = async (test) => {
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
          // A store may freeze what it hands out.
          Reflect.set(out!.data["list"] as string[], 1, "out");
          expect((await store.get(KEY))?.data).toEqual({ list: ["x"] });
        }));
    });

    describeAdvance(withStore);
    describeExpiry(withStore);
    describeConcurrency(withStore);

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
