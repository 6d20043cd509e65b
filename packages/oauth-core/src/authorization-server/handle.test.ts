import { expect, it } from "vitest";
import { createFlowId, createHandle, hashOf, isFlowId, parseHandle } from "./handle.ts";

it("rfc6749#10.10 makes flow ids of 128 random bits, each bit as often set as not", () => {
  const ones = new Array<number>(128).fill(0);
  const ids = new Set<string>();
  const rounds = 20_000;
  for (let round = 0; round < rounds; round++) {
    const id = createFlowId();
    ids.add(id);
    const bytes = Buffer.from(id, "base64url");
    for (let bit = 0; bit < 128; bit++) if (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1) ones[bit] = (ones[bit] ?? 0) + 1;
  }
  expect(ids.size).toBe(rounds);
  // Six standard deviations: a fair source fails once in some four million runs over all bits.
  const slack = 6 * Math.sqrt(rounds / 4);
  for (const count of ones) expect(Math.abs(count - rounds / 2)).toBeLessThan(slack);
});

it("never begins with a dash, which a command line would take for an option", () => {
  for (let round = 0; round < 2000; round++) expect(createFlowId()).not.toMatch(/^-/);
});

it("puts the cell in front, so that an edge can route by id", () => {
  expect(createFlowId("eu1")).toMatch(/^eu1-[A-Za-z0-9_-]{22}$/);
  expect(isFlowId(createFlowId("eu1"))).toBe(true);
  expect(isFlowId("../../etc/passwd")).toBe(false);
});

it("parses its own handles and stores only their hash", () => {
  const handle = createHandle(createFlowId("eu1"));
  expect(parseHandle(handle.value)).toEqual(handle);
  expect(handle.hash).toBe(hashOf(handle.value));
  expect(handle.value).not.toContain(handle.hash);
});

it.each([
  "",
  "x",
  `${"a".repeat(22)}.${"b".repeat(42)}`,
  `${"a".repeat(22)}.${"b".repeat(43)} `,
  `${"a".repeat(22)}.${"b".repeat(43)}=`,
])("is no handle: %j", (value) => {
  expect(parseHandle(value)).toBeUndefined();
});
