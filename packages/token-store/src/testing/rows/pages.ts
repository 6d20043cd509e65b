/**
 * The part of the TokenRows contract about many rows: partitions and scans. Called by
 * contract.ts.
 */
import { describe, expect, it } from "vitest";
import type { Row, RowKey, TokenRows } from "../../storage/token-rows.ts";

// In the order of UTF-8: U+FFEE stands before U+1F511, though not in UTF-16; the shorter before the
// longer.
const SORTED = ["!", "#\u0000", "#\u0000\u0000", "A", "a", "a!", 'a"b', "aa", "é", "\uffee", "\u{1f511}"];

/** @param rows of the test that runs */
export function describeRowPages(rows: TokenRows): void {
  const fill = async (keys: readonly RowKey[]): Promise<void> => {
    for (const [at, key] of keys.entries()) await rows.change(key, { set: { at } }, {});
  };
  const walk = async (limit: number): Promise<{ rows: Row[]; pages: number }> => {
    const found: Row[] = [];
    let cursor: string | undefined;
    for (let pages = 1; pages < 1000; pages += 1) {
      const page = await rows.scan(cursor === undefined ? { limit } : { limit, cursor });
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      found.push(...page.rows);
      cursor = page.cursor;
      if (cursor === undefined) return { rows: found, pages };
      expect(cursor).toMatch(/^[\w-]+$/);
    }
    throw new Error("the scan never ends");
  };

  describe("partition", () => {
    it("answers one user's rows in the order of their sort keys", async () => {
      const keys = SORTED.toReversed().map((sk) => ({ pk: "USER#u1", sk }));
      await fill([...keys, { pk: "USER#u", sk: "a" }, { pk: "USER#u11", sk: "a" }, { pk: "user#u1", sk: "a" }]);
      const found = await rows.partition("USER#u1");
      expect(found.map(({ key }) => key)).toEqual(keys.toReversed());
      expect(found.map(({ attributes }) => attributes["at"])).toEqual(keys.map((_, at) => at).toReversed());
    });

    it("answers an empty list for an unknown user", async () => {
      expect(await rows.partition("USER#unknown")).toEqual([]);
    });

    it("answers more rows than an engine gives at once", async () => {
      const big = "x".repeat(300_000);
      const keys = Array.from({ length: 8 }, (_, at) => ({ pk: "USER#u1", sk: `VENDOR#${at}` }));
      for (const key of keys) await rows.change(key, { set: { big } }, {});
      expect((await rows.partition("USER#u1")).map(({ key }) => key)).toEqual(keys);
    });
  });

  describe("scan", () => {
    it("meets every row once, in pages of any size", async () => {
      const keys = Array.from({ length: 21 }, (_, at) => ({ pk: `USER#${at % 5}`, sk: SORTED[at % 7] + `${at}` }));
      await fill(keys);
      for (const limit of [1, 7, 21, 100]) {
        const { rows: found, pages } = await walk(limit);
        const byPosition = found.toSorted((a, b) => Number(a.attributes["at"]) - Number(b.attributes["at"]));
        expect(byPosition).toEqual(keys.map((key, at) => ({ key, attributes: { at } })));
        expect(pages).toBeGreaterThanOrEqual(Math.ceil(21 / limit));
      }
    });

    it("ends at once in an empty table", async () => {
      expect(await rows.scan({ limit: 10 })).toEqual({ rows: [] });
    });

    it("goes on where it was while rows before and after come and go", async () => {
      const keys = Array.from({ length: 12 }, (_, at) => ({ pk: `USER#${at}`, sk: "VENDOR#v" }));
      await fill(keys);
      const first = await rows.scan({ limit: 5 });
      for (const { key } of first.rows) await rows.delete(key, {});
      const rest = await rows.scan({ limit: 100, cursor: first.cursor! });
      const seen = [...first.rows, ...rest.rows].map(({ key }) => key.pk);
      expect(seen.toSorted()).toEqual(keys.map(({ pk }) => pk).toSorted());
    });

    it("refuses pages of no size, and cursors that are not its own", async () => {
      for (const limit of [0, -1, 0.5, Number.NaN])
        await expect(rows.scan({ limit }), `${limit}`).rejects.toThrow(TypeError);
      for (const cursor of ["", "x", "e30", "W10", "WyJhIl0", "WzEsMl0"])
        await expect(rows.scan({ limit: 1, cursor }), cursor).rejects.toThrow(TypeError);
    });
  });
}
