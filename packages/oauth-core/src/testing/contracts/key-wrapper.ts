/**
 * What every KeyWrapper must do, run by each adapter's own test: data keys are unwrapped unchanged,
 * and only under the same context and the same root.
 */
import { describe, expect, it } from "vitest";
import type { KeyWrapper } from "../../ports.ts";

const CONTEXT = { purpose: "keyset", environment: "test" };

/**
 * @param name of the adapter, for the test titles
 * @param factory makes two wrappers with different roots; `reopen` is the first as another
 *   process would open it
 */
export function describeKeyWrapper(
  name: string,
  factory: () => Promise<{ wrapper: KeyWrapper; reopen: KeyWrapper; stranger: KeyWrapper; dispose(): Promise<void> }>,
): void {
  describe(`KeyWrapper: ${name}`, () => {
    const withWrappers = async (
      test: (wrappers: Awaited<ReturnType<typeof factory>>) => Promise<void>,
    ): Promise<void> => {
      const wrappers = await factory();
      try {
        await test(wrappers);
      } finally {
        await wrappers.dispose();
      }
    };

    it("makes 32-byte data keys and opens what it wrapped", () =>
      withWrappers(async ({ wrapper }) => {
        const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT);
        expect(dataKey).toHaveLength(32);
        expect(wrapped).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(await wrapper.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
      }));

    it("never makes a key twice, and wraps one key differently from another", () =>
      withWrappers(async ({ wrapper }) => {
        const made = await Promise.all(Array.from({ length: 20 }, () => wrapper.newDataKey(CONTEXT)));
        expect(new Set(made.map(({ dataKey }) => dataKey.toString("hex"))).size).toBe(20);
        expect(new Set(made.map(({ wrapped }) => wrapped)).size).toBe(20);
      }));

    it("does not show the data key in its wrapped form", () =>
      withWrappers(async ({ wrapper }) => {
        const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT);
        expect(Buffer.from(wrapped, "base64url").includes(dataKey)).toBe(false);
      }));

    it("opens what another process with the same root wrapped", () =>
      withWrappers(async ({ wrapper, reopen }) => {
        const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT);
        expect(await reopen.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
      }));

    it("takes the members of a context in any order", () =>
      withWrappers(async ({ wrapper }) => {
        const { dataKey, wrapped } = await wrapper.newDataKey({ environment: "test", purpose: "keyset" });
        expect(await wrapper.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
      }));

    const foreignContexts: readonly (readonly [string, Record<string, string>])[] = [
      ["another value", { purpose: "keyset", environment: "production" }],
      ["a member less", { purpose: "keyset" }],
      ["a member more", { ...CONTEXT, table: "t" }],
      ["no members", {}],
      ["names and values exchanged", { keyset: "purpose", test: "environment" }],
      ["the values exchanged", { purpose: "test", environment: "keyset" }],
      ["a character moved from value to name", { purposek: "eyset", environment: "test" }],
    ];
    it.each(foreignContexts)("bar#TS-4 refuses a context with %s", (_what, context) =>
      withWrappers(async ({ wrapper }) => {
        const { wrapped } = await wrapper.newDataKey(CONTEXT);
        await expect(wrapper.unwrap(wrapped, context)).rejects.toThrow(Error);
      }),
    );

    it("refuses what another root wrapped", () =>
      withWrappers(async ({ wrapper, stranger }) => {
        const { wrapped } = await stranger.newDataKey(CONTEXT);
        await expect(wrapper.unwrap(wrapped, CONTEXT)).rejects.toThrow(Error);
      }));

    it("refuses every altered character, every cut and every longer form", () =>
      withWrappers(async ({ wrapper }) => {
        const { wrapped } = await wrapper.newDataKey(CONTEXT);
        const altered = Array.from(
          wrapped,
          (char, at) => wrapped.slice(0, at) + (char === "A" ? "B" : "A") + wrapped.slice(at + 1),
        );
        const others = [
          "",
          "A",
          wrapped.slice(0, -1),
          wrapped.slice(4),
          `${wrapped}A`,
          `${wrapped}=`,
          ` ${wrapped}`,
          wrapped + wrapped,
        ];
        for (const value of [...altered, ...others])
          await expect(wrapper.unwrap(value, CONTEXT)).rejects.toThrow(Error);
      }));

    it("refuses without showing the data key or the wrapped form", () =>
      withWrappers(async ({ wrapper }) => {
        const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT);
        const error: unknown = await wrapper.unwrap(wrapped, {}).catch((cause: unknown) => cause);
        expect(error).toBeInstanceOf(Error);
        for (const secret of [wrapped, dataKey.toString("hex"), dataKey.toString("base64url")])
          expect(String(error)).not.toContain(secret);
      }));
  });
}
