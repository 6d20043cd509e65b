import { expect, it } from "vitest";
import { fixedClock } from "../testing/index.ts";
import { createExpiringMap } from "./expiring-map.ts";

const START = 1_700_000_000;

it("returns an entry until its expiry, and not after it", () => {
  const now = fixedClock(START);
  const map = createExpiringMap<string>(10, now);
  map.set("a", "kept", START + 10);
  now.advance(9);
  expect(map.get("a")).toBe("kept");
  now.advance(1);
  expect(map.get("a")).toBeUndefined();
});

it("does not store an expired entry, and drops the previous one", () => {
  const now = fixedClock(START);
  const map = createExpiringMap<string>(10, now);
  map.set("a", "kept", START + 10);
  map.set("a", "late", START);
  expect(map.get("a")).toBeUndefined();
});

it("counts the life anew when an entry is set again", () => {
  const now = fixedClock(START);
  const map = createExpiringMap<string>(10, now);
  map.set("a", "one", START + 10);
  now.advance(5);
  map.set("a", "two", START + 15);
  now.advance(9);
  expect(map.get("a")).toBe("two");
});

it("forgets the entry not used for longest when there is no room", () => {
  const map = createExpiringMap<string>(2, fixedClock(START));
  map.set("a", "1", START + 10);
  map.set("b", "2", START + 10);
  map.get("a");
  map.set("c", "3", START + 10);
  expect(["a", "b", "c"].map((key) => map.get(key))).toEqual(["1", undefined, "3"]);
});
