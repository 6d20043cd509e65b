import { expect, expectTypeOf, it } from "vitest";
import { defined } from "./defined.ts";

it("leaves out members that are undefined, and keeps every other value", () => {
  const members = { a: undefined, b: null, c: "", d: 0, e: false, f: ["x"] };
  expect(Object.keys(defined(members))).toEqual(["b", "c", "d", "e", "f"]);
  expect(defined(members)).toEqual({ b: null, c: "", d: 0, e: false, f: ["x"] });
});

it("makes only those members optional that may be undefined", () => {
  const scope = undefined as string | undefined;
  const made: { readonly id: string; readonly scope?: string } = defined({ id: "a", scope });
  expect("scope" in made).toBe(false);
  expectTypeOf(defined({ id: "a", scope })).toEqualTypeOf<{ id: string } & { scope?: string }>();
});
