import { expect, it } from "vitest";
import { randomToken } from "./random.ts";

it("rfc6749#10.10 gives every value once, across many refills of the pool", () => {
  const values = Array.from({ length: 20_000 }, (_, index) => randomToken(16 + (index % 3) * 8));
  expect(new Set(values).size).toBe(values.length);
  expect(new Set(values.map((value) => value.length))).toEqual(new Set([22, 32, 43]));
});

it("never hands out wiped bytes", () => {
  for (let index = 0; index < 1000; index++) expect(randomToken(32)).not.toMatch(/A{12}/);
});
