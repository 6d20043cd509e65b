import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { soonerThan } from "./time-limits.ts";

describe("soonerThan", () => {
  it("gives what a call gives that is over first", async () => {
    expect(await soonerThan(10_000, Promise.resolve(7))).toBe(7);
    await expect(soonerThan(10_000, Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  });

  it("fails if the timer is over first", async () => {
    await expect(soonerThan(1, sleep(1_000, 7, { ref: false }))).rejects.toThrow("after a timer of 1 ms");
  });
});
