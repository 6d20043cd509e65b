/**
 * What every TokenRows must do, run by each adapter's own test. The leases and versions of
 * refreshes depend on it: on an adapter that passes, no two processes commit over the same version.
 */
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Attributes, Expected, Row, RowKey, TokenRows } from "../../storage/token-rows.ts";
import { describeRowPages } from "./pages.ts";

const KEY = { pk: "USER#u1", sk: "VENDOR#github" };
const FIRST = { access_token: "a1", updated_at: 1_700_000_000, version: 1 };

/** @param open makes empty rows, closed after each test */
export function describeTokenRows(name: string, open: () => TokenRows | Promise<TokenRows>): void {
  describe(`TokenRows: ${name}`, () => {
    const rows = ofEachTest(open);
    const write = (set: Attributes, key: RowKey = KEY): Promise<string> => rows.change(key, { set }, {});
    const attributesOf = async (key: RowKey = KEY): Promise<Row["attributes"] | undefined> =>
      (await rows.get(key))?.attributes;

    describe("change", () => {
      it("makes a row, and get answers it", async () => {
        expect(await rows.get(KEY)).toBeUndefined();
        expect(await write(FIRST)).toBe("written");
        expect(await rows.get(KEY)).toEqual({ key: KEY, attributes: FIRST });
      });

      it("sets and removes what it names and leaves all else as it was", async () => {
        await write({ ...FIRST, another_release: "kept", gone: 1 });
        expect(await rows.change(KEY, { set: { access_token: "a2" }, remove: ["gone", "never_there"] }, {})).toBe(
          "written",
        );
        expect(await attributesOf()).toEqual({ ...FIRST, access_token: "a2", another_release: "kept" });
      });

      it("sets an attribute that is both removed and set", async () => {
        await write(FIRST);
        await rows.change(KEY, { set: { version: 2 }, remove: ["version", "version", "updated_at"] }, {});
        expect(await attributesOf()).toEqual({ access_token: "a1", version: 2 });
      });

      it("makes a row without attributes", async () => {
        expect(await rows.change(KEY, { set: {}, remove: ["x"] }, { x: undefined })).toBe("written");
        expect(await rows.get(KEY)).toEqual({ key: KEY, attributes: {} });
      });

      it("gives every value back as it was", async () => {
        const attributes = {
          text: 'quote " backslash \\ newline \n nul \u0000 separator \u2028 accent é key \u{1f511}',
          empty: "",
          digits: "1",
          zero: 0,
          negative: -1.5e-7,
          large: Number.MAX_SAFE_INTEGER,
          larger: 1.7e125,
          small: 1.3e-129,
          precise: 0.1 + 0.2,
          "any name, é": "x",
        };
        await write(attributes);
        expect(await attributesOf()).toEqual(attributes);
        expect(await rows.change(KEY, { set: { done: 1 } }, attributes)).toBe("written");
      });

      it("is not changed by changes to objects that went in or came out", async () => {
        const set = { version: 1 };
        await write(set);
        set.version = 2;
        ((await attributesOf()) as { version: number }).version = 3;
        expect(await attributesOf()).toEqual({ version: 1 });
      });
    });

    describe("conditions", () => {
      const failing: [string, Expected][] = [
        ["another value", { version: 2 }],
        ["a number written as a string", { version: "1" }],
        ["a string written as a number", { access_token: 1 }],
        ["an attribute that is not there", { unknown: "" }],
        ["the absence of one that is there", { version: undefined }],
        ["one condition of two", { version: 1, access_token: "a2" }],
        ["a name every object has", { constructor: "x" }],
      ];

      it("one not met: neither changes nor deletes", async () => {
        await write(FIRST);
        for (const [what, expected] of failing) {
          expect(await rows.change(KEY, { set: { version: 9 } }, expected), what).toBe("conflict");
          expect(await rows.delete(KEY, expected), what).toBe("conflict");
          expect(await attributesOf(), what).toEqual(FIRST);
        }
      });

      it("all met: changes, then deletes", async () => {
        await write(FIRST);
        const met = { ...FIRST, lease_owner: undefined, constructor: undefined };
        expect(await rows.change(KEY, { set: { lease_owner: "p1" } }, met)).toBe("written");
        expect(await rows.delete(KEY, { lease_owner: "p1", lease_until: undefined })).toBe("deleted");
        expect(await rows.get(KEY)).toBeUndefined();
      });

      it("an absent row has no attributes: absence holds, anything else does not", async () => {
        expect(await rows.change(KEY, { set: FIRST }, { version: 1 })).toBe("conflict");
        expect(await rows.delete(KEY, { version: 1 })).toBe("conflict");
        expect(await rows.delete(KEY, {})).toBe("deleted");
        expect(await rows.delete(KEY, { version: undefined })).toBe("deleted");
        expect(await rows.get(KEY)).toBeUndefined();
        expect(await rows.change(KEY, { set: FIRST }, { version: undefined })).toBe("written");
        expect(await rows.change(KEY, { set: FIRST }, { version: undefined })).toBe("conflict");
      });

      it("deletes that row only", async () => {
        const others = [
          { pk: KEY.pk, sk: "VENDOR#slack" },
          { pk: "USER#u2", sk: KEY.sk },
        ];
        for (const key of [KEY, ...others]) await write(FIRST, key);
        await rows.delete(KEY, {});
        for (const key of others) expect(await attributesOf(key)).toEqual(FIRST);
      });
    });

    describe("many at once", () => {
      it("bar#TS-18 of 20 parallel changes over one version exactly one is written, and it is the one that stands", async () => {
        for (let version = 0; version < 2; version += 1) {
          const expected = { version: version === 0 ? undefined : version };
          const change = (by: number): Promise<string> =>
            rows.change(KEY, { set: { version: version + 1, by } }, expected);
          const all = await Promise.all(Array.from({ length: 20 }, (_, by) => change(by)));
          expect(all.filter((outcome) => outcome === "written")).toHaveLength(1);
          expect(await attributesOf()).toEqual({ version: version + 1, by: all.indexOf("written") });
        }
      });

      it("of 20 parallel deletes of one row exactly one is deleted", async () => {
        await write(FIRST);
        const all = await Promise.all(Array.from({ length: 20 }, () => rows.delete(KEY, { version: 1 })));
        expect(all.filter((outcome) => outcome === "deleted")).toHaveLength(1);
      });

      it("loses none of 20 parallel changes of different attributes", async () => {
        await Promise.all(Array.from({ length: 20 }, (_, at) => write({ [`a${at}`]: at })));
        expect(await attributesOf()).toEqual(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`a${at}`, at])));
      });
    });

    describe("misuse", () => {
      const attributesRefused: readonly (readonly [string, Attributes])[] = [
        ["a reserved name", { attempt: "x" }],
        ["the name of a key", { pk: "x" }],
        ["no name", { "": "x" }],
        ["a name that objects lose", JSON.parse('{"__proto__":"x"}') as Attributes],
        ["no number", { a: Number.NaN }],
        ["an infinite number", { a: Number.POSITIVE_INFINITY }],
        ["a number beyond DynamoDB's", { a: 1e126 }],
        ["a number too small for DynamoDB", { a: 1e-131 }],
        ["half a surrogate pair", { a: "\ud800" }],
        ["another type", { a: true as unknown as string }],
      ];
      it("refuses attributes that no engine keeps, wherever they stand", async () => {
        for (const [what, attributes] of attributesRefused) {
          await expect(rows.change(KEY, { set: attributes }, {}), what).rejects.toThrow(TypeError);
          await expect(rows.change(KEY, { set: {} }, attributes), what).rejects.toThrow(TypeError);
          await expect(rows.delete(KEY, attributes), what).rejects.toThrow(TypeError);
        }
        expect(await rows.get(KEY)).toBeUndefined();
      });

      const keysRefused: readonly (readonly [string, RowKey])[] = [
        ["an empty pk", { pk: "", sk: "x" }],
        ["an empty sk", { pk: "x", sk: "" }],
        ["a pk of 2049 bytes", { pk: `${"é".repeat(1024)}x`, sk: "x" }],
        ["an sk of 1025 bytes", { pk: "x", sk: "x".repeat(1025) }],
        ["half a surrogate pair", { pk: "\udc00", sk: "x" }],
      ];
      it("refuses keys that no engine keeps", async () => {
        for (const [what, key] of keysRefused) {
          await expect(rows.get(key), what).rejects.toThrow(TypeError);
          await expect(rows.change(key, { set: {} }, {}), what).rejects.toThrow(TypeError);
          await expect(rows.delete(key, {}), what).rejects.toThrow(TypeError);
        }
      });
    });

    describeRowPages(rows);

    it("answers a ping until it is closed, then refuses every call as temporarily_unavailable", async () => {
      await write(FIRST);
      await expect(rows.ping()).resolves.toBeUndefined();
      expect(await attributesOf()).toEqual(FIRST);
      await rows.close();
      await rows.close();
      const refused = expect.objectContaining({ name: "OAuthError", code: "temporarily_unavailable" });
      await expect(rows.ping()).rejects.toEqual(refused);
      await expect(rows.get(KEY)).rejects.toEqual(refused);
      await expect(rows.change(KEY, { set: {} }, {})).rejects.toEqual(refused);
      await expect(rows.delete(KEY, {})).rejects.toEqual(refused);
      await expect(rows.partition(KEY.pk)).rejects.toEqual(refused);
      await expect(rows.scan({ limit: 1 })).rejects.toEqual(refused);
    });
  });
}
