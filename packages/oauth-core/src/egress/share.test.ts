import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Turn, Turns } from "../mechanics/turns.ts";
import { callerName, createOriginTurns, onBehalfOf } from "./share.ts";

const TURN: Turn = { timeoutMs: 1_000 };
let turns: Turns;
/** The callers whose calls have begun, in order. */
let begun: string[];
/** Ends calls under way, oldest first. */
let ends: { readonly caller: string; readonly end: () => void }[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  turns = createOriginTurns("https://vendor.example");
  begun = [];
  ends = [];
});
afterEach(() => vi.useRealTimers());

/** A call that goes on until it is ended. @returns its error, where it has one */
const call = (caller: string, turn: Turn = TURN): Promise<unknown> =>
  turns
    .run(caller, turn, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      begun.push(caller);
      ends.push({ caller, end: resolve });
      return promise;
    })
    .catch((error: unknown) => error);
const hold = (caller: string, count: number): void => {
  for (let at = 0; at < count; at += 1) void call(caller);
};
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);
const endOf = async (caller: string): Promise<void> => {
  const at = ends.findIndex((one) => one.caller === caller);
  ends.splice(at, 1)[0]?.end();
  await settle();
};
const countOf = (caller: string): number => begun.filter((one) => one === caller).length;

describe("bar#ST-8 the calls to one origin", () => {
  it("are at most fifty of one caller at a time, and another's begin beside them", async () => {
    hold("loud", 80);
    hold("quiet", 3);
    expect([countOf("loud"), countOf("quiet")]).toEqual([50, 3]);
    await endOf("loud");
    expect([countOf("loud"), countOf("quiet")]).toEqual([51, 3]);
    await endOf("quiet");
    expect(countOf("loud")).toBe(51);
  });

  it("are at most a hundred; then a place that becomes free goes from caller to caller", async () => {
    hold("a", 60);
    hold("b", 60);
    hold("c", 2);
    hold("d", 1);
    expect(begun).toHaveLength(100);
    for (let at = 0; at < 6; at += 1) await endOf("a");
    expect(begun.slice(100)).toEqual(["a", "c", "d", "a", "c", "a"]);
    await endOf("b");
    expect(begun.at(-1)).toBe("b");
  });

  it("are refused beyond a thousand of one caller, and another's are not", async () => {
    hold("loud", 1_000);
    expect(await call("loud")).toMatchObject({ kind: "connect", sent: false });
    hold("quiet", 1);
    expect(countOf("quiet")).toBe(1);
  });

  it("wait no longer than the call may take, and have what is left of that", async () => {
    hold("loud", 50);
    const late = turns.run("loud", TURN, async (leftMs) => leftMs);
    await vi.advanceTimersByTimeAsync(400);
    await endOf("loud");
    expect(await late).toBe(600);
    hold("loud", 1);
    const given = call("loud");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await given).toMatchObject({ kind: "timeout", sent: false });
    await endOf("loud");
    expect(begun).toHaveLength(51);
  });

  it("end when their signal fires, and free their place", async () => {
    hold("loud", 50);
    const controller = new AbortController();
    const waiting = call("loud", { ...TURN, signal: controller.signal });
    controller.abort();
    expect(await waiting).toMatchObject({ kind: "timeout", sent: false });
    await endOf("loud");
    expect(begun).toHaveLength(50);
  });

  it("leave their place when they fail", async () => {
    hold("loud", 49);
    const failing = turns.run("loud", TURN, async () => Promise.reject(new Error("broken")));
    hold("loud", 1);
    await expect(failing).rejects.toThrow("broken");
    await settle();
    expect(begun).toHaveLength(50);
  });

  it("are awaited until none is under way or waiting", async () => {
    await turns.idle();
    hold("loud", 51);
    let isIdle = false;
    const idle = turns.idle().then(() => (isIdle = true));
    for (let at = 0; at < 50; at += 1) await endOf("loud");
    expect(isIdle).toBe(false);
    await endOf("loud");
    await idle;
    expect(isIdle).toBe(true);
  });
});

it("a caller is the client of the request once known, also for work it started", async () => {
  const trace: { clientId?: string } = {};
  const names = await onBehalfOf(trace, async () => {
    const before = callerName();
    await Promise.resolve();
    trace.clientId = "platform";
    return [before, callerName(), onBehalfOf({}, callerName)];
  });
  expect([...names, callerName()]).toEqual(["", "platform", "", ""]);
});
