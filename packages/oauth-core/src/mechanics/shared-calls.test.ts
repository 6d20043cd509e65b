import { expect, it } from "vitest";
import { createSharedCalls } from "./shared-calls.ts";

it("calls once for concurrent callers, and again afterwards", async () => {
  const calls = createSharedCalls<number>();
  let made = 0;
  const call = async (): Promise<number> => (made += 1);
  expect(await Promise.all([calls.run("a", call), calls.run("a", call), calls.run("b", call)])).toEqual([1, 1, 2]);
  expect(calls.find("a")).toBeUndefined();
  expect(await calls.run("a", call)).toBe(3);
});

it("does not cache a failure", async () => {
  const calls = createSharedCalls<number>();
  const failing = async (): Promise<number> => Promise.reject(new Error("down"));
  const both = [calls.run("a", failing), calls.run("a", async () => 1)];
  expect(await Promise.allSettled(both)).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  expect(await calls.run("a", async () => 1)).toBe(1);
});
