import { describe, expect, it, vi } from "vitest";
import { lazyMap } from "./lazy-map.ts";

const sample = () => {
  const makers = {
    one: vi.fn<() => { n: number }>(() => ({ n: 1 })),
    two: vi.fn<() => { n: number }>(() => ({ n: 2 })),
  };
  return { makers, map: lazyMap<{ n: number }>(new Map(Object.entries(makers))) };
};

describe("a lazy map", () => {
  it("knows its keys without making a value", () => {
    const { makers, map } = sample();
    expect([map.size, [...map.keys()], map.has("two"), map.has("three")]).toEqual([2, ["one", "two"], true, false]);
    expect(makers.one).not.toHaveBeenCalled();
  });

  it("finds a value by an alias of its key, which it does not list", () => {
    const { makers } = sample();
    const aliases = new Map([
      ["uno", "one"],
      ["two", "one"],
      ["lost", "nowhere"],
    ]);
    const map = lazyMap<{ n: number }>(new Map(Object.entries(makers)), aliases);
    expect(map.get("uno")).toBe(map.get("one"));
    expect([map.has("uno"), map.has("lost"), map.get("lost"), [...map.keys()]]).toEqual([
      true,
      false,
      undefined,
      ["one", "two"],
    ]);
    // A key is never another key's alias.
    expect(map.get("two")).toEqual({ n: 2 });
  });

  it("makes a value when it is asked for, once, and no other", () => {
    const { makers, map } = sample();
    expect(map.get("two")).toBe(map.get("two"));
    expect(makers.two).toHaveBeenCalledOnce();
    expect(makers.one).not.toHaveBeenCalled();
    expect(map.get("three")).toBeUndefined();
    expect(map.get("toString")).toBeUndefined();
  });

  it("gives all of them in order, the very ones that it gave before", () => {
    const { map } = sample();
    const two = map.get("two");
    expect([...map]).toEqual([
      ["one", { n: 1 }],
      ["two", { n: 2 }],
    ]);
    expect([...map.values()][1]).toBe(two);
    expect(new Map(map).get("two")).toBe(two);
    const seen: [string, number][] = [];
    for (const [key, { n }] of map.entries()) seen.push([key, n]);
    map.forEach((value, key, whole) => seen.push([key, whole.get(key) === value ? value.n : 0]));
    expect(seen).toEqual([
      ["one", 1],
      ["two", 2],
      ["one", 1],
      ["two", 2],
    ]);
  });
});
