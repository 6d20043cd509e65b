import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createBoundedCalls } from "./bounded-calls.ts";
import type { BoundedCalls } from "./bounded-calls.ts";

const DEADLINE_MS = 1000;
const refusal = (why: Error): Error => new Error(`refused: ${why.message}`);

let calls: BoundedCalls;
beforeEach(() => {
  vi.useFakeTimers();
  calls = createBoundedCalls(DEADLINE_MS, { refusal });
});
afterEach(() => vi.useRealTimers());

/** Work that ends on request, or when it is aborted. */
function worker() {
  const started: { readonly signal: AbortSignal; readonly done: (answer: string) => void }[] = [];
  const work = (signal: AbortSignal): Promise<string> =>
    new Promise((resolve, reject) => {
      started.push({ signal, done: resolve });
      signal.addEventListener("abort", () => reject(new Error("aborted")));
    });
  return { started, work };
}

const run = (count: number, work: (signal: AbortSignal) => Promise<string>): Promise<string>[] =>
  Array.from({ length: count }, () => calls.run(work).catch((error: Error) => error.message));

describe("bounded calls", () => {
  it("answers what the work answers, and throws what it throws", async () => {
    await expect(calls.run(async () => "a")).resolves.toBe("a");
    const broken = new TypeError("b");
    await expect(calls.run(() => Promise.reject(broken))).rejects.toBe(broken);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("runs a hundred at once, and the others in their order as places come free", async () => {
    const { started, work } = worker();
    const all = run(103, work);
    expect(started).toHaveLength(100);
    started[7]!.done("7");
    expect(await all[7]).toBe("7");
    expect(started).toHaveLength(101);
    started.at(-1)!.done("the hundred and first");
    expect(await all[100]).toBe("the hundred and first");
    expect(started).toHaveLength(102);
    for (const { done } of started) done("done");
    await Promise.all(all.slice(0, 102));
    started.at(-1)!.done("last");
    expect(await all[102]).toBe("last");
  });

  it("refuses at the deadline what runs, which it aborts, and what waits, which never starts", async () => {
    const { started, work } = worker();
    const all = run(105, work);
    await vi.advanceTimersByTimeAsync(DEADLINE_MS - 1);
    expect(started).toHaveLength(100);
    expect(started[0]!.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 105 }, () => "refused: no answer within 1000 ms"));
    expect(started.filter(({ signal }) => !signal.aborted)).toEqual([]);
    const after = calls.run(async () => "after");
    expect(await after).toBe("after");
  });

  it("gives the place of a call that ignores its signal to the next one", async () => {
    const stuck = run(100, () => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(DEADLINE_MS);
    await Promise.all(stuck);
    expect(await calls.run(async () => "next")).toBe("next");
  });

  it("refuses at once the call after a hundred that run and a thousand that wait", async () => {
    const { work } = worker();
    const all = run(1101, work);
    expect(await all[1100]).toBe("refused: 1000 calls are waiting already");
    await vi.advanceTimersByTimeAsync(DEADLINE_MS);
    await Promise.all(all);
  });

  it("when closed refuses what runs, what waits and what comes", async () => {
    const { started, work } = worker();
    const all = run(101, work);
    calls.close();
    expect(await Promise.all(all)).toEqual(Array.from({ length: 101 }, () => "refused: the store was closed"));
    expect(started).toHaveLength(100);
    await expect(calls.run(work)).rejects.toThrow("refused: the store was closed");
    expect(vi.getTimerCount()).toBe(0);
  });
});
