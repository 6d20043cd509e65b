import { expect, it } from "vitest";
import { type StorageTiming, timed } from "./timed.ts";

const part = {
  table: "users",
  get: async (key: string) => `row of ${key}`,
  fail: async () => {
    throw new Error("down");
  },
  isStale: () => false,
  async *list() {
    yield "row of alice";
  },
};

it("reports each call that takes time, and nothing of what is stored", async () => {
  const timings: StorageTiming[] = [];
  const measured = timed(part, "tokens", (timing) => void timings.push(timing));
  expect(await measured.get("alice")).toBe("row of alice");
  await expect(measured.fail()).rejects.toThrow("down");
  expect([measured.isStale(), measured.table]).toEqual([false, "users"]);
  for await (const row of measured.list()) expect(row).toBe("row of alice");
  expect(timings).toEqual([
    { part: "tokens", operation: "get", seconds: expect.any(Number), outcome: "ok" },
    { part: "tokens", operation: "fail", seconds: expect.any(Number), outcome: "failed" },
  ]);
  expect(timings.every(({ seconds }) => seconds >= 0 && seconds < 5)).toBe(true);
});

it("is the part itself where nothing is measured", () => {
  expect(timed(part, "tokens", undefined)).toBe(part);
});
