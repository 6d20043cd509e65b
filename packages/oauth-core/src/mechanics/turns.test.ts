/** Covers what egress/share.test.ts does not: bounds that change, calls without lanes, refusals. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { systemTimer } from "./system-timer.ts";
import { createTurns, type Refusal, type Turn, type Turns } from "./turns.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

const refusal = (why: Refusal): Error => new Error(why);

function harness(turns: Turns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  /** @returns what came of the call */
  const call = (name: string, lane: string, turn: Turn = {}): Promise<string> =>
    turns
      .run(lane, turn, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return "done";
      })
      .catch((error: Error) => error.message);
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { begun, call, end };
}

it("starts as many calls as its lane allows, in order", async () => {
  const { begun, call, end } = harness(createTurns({ mostOfLane: () => 2, refusal, timer: systemTimer }));
  const all = ["1", "2", "3", "4"].map((name) => call(name, "a"));
  void call("other", "b");
  expect(begun).toEqual(["1", "2", "other"]);
  for (const name of ["2", "1", "3", "4"]) await end(name);
  expect(begun).toEqual(["1", "2", "other", "3", "4"]);
  expect(await Promise.all(all)).toEqual(["done", "done", "done", "done"]);
});

it("serves the lanes in turn, so that none waits for all of another", async () => {
  const { begun, call, end } = harness(createTurns({ most: 1, refusal, timer: systemTimer }));
  for (const name of ["a1", "a2", "a3", "b1", "c1"]) void call(name, name.slice(0, 1));
  for (const name of ["a1", "a2", "b1", "c1"]) await end(name);
  expect(begun).toEqual(["a1", "a2", "b1", "c1", "a3"]);
});

it("starts waiting calls when a limit grows, and refuses those of a lane whose limit throws", async () => {
  const room: Record<string, number> = { a: 1, b: 1 };
  const mostOfLane = (lane: string): number => {
    if (room[lane] === 0) throw new Error(`none left for ${lane}`);
    return room[lane] ?? 0;
  };
  const { begun, call, end } = harness(createTurns({ mostOfLane, refusal, timer: systemTimer }));
  const refused = ["b1", "b2", "b3"].map((name) => call(name, "b"));
  for (const name of ["a1", "a2", "a3"]) void call(name, "a");
  expect(begun).toEqual(["b1", "a1"]);
  room["a"] = 3;
  room["b"] = 0;
  await end("b1");
  expect(await Promise.all(refused)).toEqual(["done", "none left for b", "none left for b"]);
  expect(begun).toEqual(["b1", "a1", "a2", "a3"]);
  expect(await call("b4", "b")).toBe("none left for b");
});

it("refuses a lane that has no room at once, also while every place is taken", async () => {
  const mostOfLane = (lane: string): number => {
    if (lane === "none") throw new Error("none left");
    return 5;
  };
  const { call } = harness(createTurns({ most: 1, mostOfLane, refusal, timer: systemTimer }));
  void call("1", "a");
  expect(await call("2", "none")).toBe("none left");
});

it("refuses a call that finds no room to wait, in its lane or over all lanes", async () => {
  const { call } = harness(createTurns({ most: 1, mostInLane: 2, mostWaiting: 2, refusal, timer: systemTimer }));
  void call("a1", "a");
  void call("a2", "a");
  expect(await call("a3", "a")).toBe("full");
  void call("b1", "b");
  expect(await call("c1", "c")).toBe("full");
});

it("refuses at once where a call has no time to wait, and begins it where a place is free", async () => {
  const { call, end } = harness(createTurns({ most: 1, refusal, timer: systemTimer }));
  const first = call("1", "a", { timeoutMs: 0 });
  expect(await call("2", "a", { timeoutMs: 0 })).toBe("late");
  await end("1");
  expect(await first).toBe("done");
});

it("refuses in time by the timer, and by the clock it was given where the timer is behind", async () => {
  let elapsed = 0;
  const { begun, call, end } = harness(
    createTurns({ most: 1, refusal, timer: { ...systemTimer, elapsedMs: () => elapsed } }),
  );
  void call("1", "a");
  const late = call("2", "a", { timeoutMs: 100 });
  const inTime = call("3", "a", { timeoutMs: 5_000 });
  elapsed = 101;
  await end("1");
  expect(await late).toBe("late");
  expect(begun).toEqual(["1", "3"]);
  const waiting = call("4", "a", { timeoutMs: 1_000 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await waiting).toBe("late");
  await end("3");
  expect(await inTime).toBe("done");
  expect(vi.getTimerCount()).toBe(0);
});

it("is idle when nothing is under way or waiting, refused calls included", async () => {
  const turns = createTurns({ most: 1, refusal, timer: systemTimer });
  const { call, end } = harness(turns);
  void call("1", "a");
  const late = call("2", "b", { timeoutMs: 10 });
  let isIdle = false;
  void turns.idle().then(() => (isIdle = true));
  await vi.advanceTimersByTimeAsync(10);
  expect([await late, isIdle]).toEqual(["late", false]);
  await end("1");
  expect(isIdle).toBe(true);
});
