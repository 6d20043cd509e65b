import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemTimer } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { createDataKeys, type DataKeys, type DataKeysOptions } from "./data-keys.ts";
import { type CountingWrapper, countingWrapper, DOWN } from "../testing/aws/counting-wrapper.ts";
import { DATA_KEY_TIMEOUT_MS, MAX_WAITING } from "./data-keys-queue.ts";

const CONTEXT = { purpose: "tokens" };
const START = 1_700_000_000;

let clock: ReturnType<typeof fixedClock>;
let service: CountingWrapper;
let dataKeys: DataKeys;

function start(limits: DataKeysOptions["limits"] = {}): void {
  dataKeys = createDataKeys({ keys: service.keys, context: CONTEXT, now: clock, timer: systemTimer, limits });
}

beforeEach(() => {
  clock = fixedClock(START);
  service = countingWrapper();
  start();
});

afterEach(() => {
  dataKeys.close();
  vi.useRealTimers();
});

const times = <T>(count: number, run: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => run(at));

describe("sealing", () => {
  it("uses one key for all that come, made once also where they come at once", async () => {
    const keys = await Promise.all(times(100, () => dataKeys.toSeal(4)));
    keys.push(await dataKeys.toSeal(4));
    expect(new Set(keys.map(({ wrapped }) => wrapped))).toEqual(new Set(["a/1"]));
    expect(service.state.made).toBe(1);
  });

  it("bar#TS-13 replaces the key at its maximum age, to the second", async () => {
    expect((await dataKeys.toSeal(1)).wrapped).toBe("a/1");
    clock.advance(299);
    expect((await dataKeys.toSeal(1)).wrapped).toBe("a/1");
    clock.advance(1);
    expect((await dataKeys.toSeal(1)).wrapped).toBe("a/2");
    clock.advance(-1);
    expect((await dataKeys.toSeal(1)).wrapped).toBe("a/3");
  });

  it("bar#TS-13 replaces the key at its maximum number of uses, sealing and opening together", async () => {
    start({ maxUses: 10 });
    expect((await dataKeys.toSeal(4)).wrapped).toBe("a/1");
    await dataKeys.toOpen("a/1", 4);
    expect(service.state.opened).toBe(0);
    expect((await dataKeys.toSeal(2)).wrapped).toBe("a/1");
    expect((await dataKeys.toSeal(1)).wrapped).toBe("a/2");
    await dataKeys.toOpen("a/1", 1);
    expect(service.state.opened).toBe(1);
  });

  it("bar#TS-13 gives callers at once no more uses than a key has", async () => {
    start({ maxUses: 10 });
    const keys = await Promise.all(times(20, () => dataKeys.toSeal(3)));
    const uses = Map.groupBy(keys, ({ wrapped }) => wrapped);
    expect(Math.max(...Array.from(uses.values(), (all) => all.length))).toBe(3);
    expect(service.state.made).toBe(7);
  });

  it("does not remember a failure", async () => {
    service.state.failure = DOWN;
    const refused = await Promise.allSettled(times(5, () => dataKeys.toSeal(1)));
    expect(refused).toEqual(times(5, () => ({ status: "rejected", reason: DOWN })));
    expect(service.state.made).toBe(1);
    service.state.failure = undefined;
    expect((await dataKeys.toSeal(1)).wrapped).toBe("a/2");
  });

  it.each([-1, Number.NaN, 2 ** 20 + 1])("of %d fields at once is refused", async (uses) => {
    await expect(dataKeys.toSeal(uses)).rejects.toThrow(TypeError);
    await expect(dataKeys.toOpen("a/1", uses)).rejects.toThrow(TypeError);
    expect(service.state).toMatchObject({ made: 0, opened: 0 });
  });
});

describe("opening", () => {
  it("asks once for each key, also where many want it at once", async () => {
    const opened = await Promise.all(times(1000, (at) => dataKeys.toOpen(`a/${at % 30}`, 4)));
    expect(opened.map((key) => key[0])).toEqual(times(1000, (at) => at % 30));
    expect(service.state.opened).toBe(30);
    for (const at of times(10_000, (at) => at)) await dataKeys.toOpen(`a/${at % 30}`, 1);
    expect(service.state.opened).toBe(30);
  });

  it("accepts a row without fields, cold and warm", async () => {
    for (const uses of [0, 0]) expect((await dataKeys.toOpen("a/1", uses))[0]).toBe(1);
  });

  it("does not request a key that was just used for sealing", async () => {
    const { dataKey, wrapped } = await dataKeys.toSeal(1);
    expect(await dataKeys.toOpen(wrapped, 1)).toBe(dataKey);
    expect(service.state.opened).toBe(0);
  });

  it("bar#TS-12 uses no key past its five minutes, whatever the service does", async () => {
    await dataKeys.toOpen("a/1", 1);
    service.state.failure = DOWN;
    clock.advance(299);
    await dataKeys.toOpen("a/1", 1);
    clock.advance(1);
    await expect(dataKeys.toOpen("a/1", 1)).rejects.toBe(DOWN);
    service.state.failure = undefined;
    await dataKeys.toOpen("a/1", 1);
  });

  it("bar#TS-13 keeps as many keys as configured, and evicts the least recently used one", async () => {
    start({ maxEntries: 3 });
    for (const at of [1, 2, 3]) await dataKeys.toOpen(`a/${at}`, 1);
    await dataKeys.toOpen("a/1", 1);
    await dataKeys.toOpen("a/4", 1);
    expect(service.state.opened).toBe(4);
    for (const at of [1, 3, 4]) await dataKeys.toOpen(`a/${at}`, 1);
    expect(service.state.opened).toBe(4);
    await dataKeys.toOpen("a/2", 1);
    expect(service.state.opened).toBe(5);
  });

  it("works with room for one key, for many at once", async () => {
    start({ maxEntries: 1, maxUses: 3 });
    const opened = await Promise.all(times(100, (at) => dataKeys.toOpen(`a/${at % 10}`, 1)));
    expect(opened).toHaveLength(100);
    expect(service.state.opened).toBeGreaterThanOrEqual(34);
  });

  it("remembers neither a refusal nor an outage", async () => {
    await expect(dataKeys.toOpen("forged", 1)).rejects.toThrow(expect.objectContaining({ code: "unreadable" }));
    await expect(dataKeys.toOpen("forged", 1)).rejects.toThrow(expect.objectContaining({ code: "unreadable" }));
    expect(service.state.opened).toBe(2);
    service.state.failure = DOWN;
    await expect(Promise.all(times(3, () => dataKeys.toOpen("a/1", 1)))).rejects.toBe(DOWN);
    service.state.failure = undefined;
    expect((await dataKeys.toOpen("a/1", 1))[0]).toBe(1);
  });

  it("one key that is refused does not disturb another", async () => {
    const results = await Promise.allSettled(["a/1", "forged", "a/2"].map((wrapped) => dataKeys.toOpen(wrapped, 1)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });
});

describe("a root that moves", () => {
  it("bar#TS-14 is used for new rows five minutes later at most; older keys are stale then", async () => {
    const before = await dataKeys.toSeal(1);
    service.state.root = "b";
    expect(dataKeys.isStale(before.wrapped)).toBe(true);
    clock.advance(300);
    const after = await dataKeys.toSeal(1);
    expect(after.wrapped).toBe("b/2");
    expect(dataKeys.isStale(after.wrapped)).toBe(false);
    expect((await dataKeys.toOpen(before.wrapped, 1))[0]).toBe(1);
  });

  it("is unknown to a wrapper with one root", () => {
    const { isStale: _, ...keys } = service.keys;
    expect(createDataKeys({ keys, context: CONTEXT, now: clock, timer: systemTimer }).isStale("b/1")).toBe(false);
  });
});

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("bar#TS-13 the way to the key service", () => {
  it("bar#TS-13 is for twenty at once, sealing and opening together", async () => {
    await Promise.all([dataKeys.toSeal(1), ...times(200, (at) => dataKeys.toOpen(`a/${at}`, 1))]);
    expect(service.state).toMatchObject({ opened: 200, made: 1, peak: 20 });
  });

  it("bar#TS-12 refuses a call at once that would have to wait behind a thousand", async () => {
    service.hold();
    const waiting = times(20 + MAX_WAITING, (at) => dataKeys.toOpen(`a/${at}`, 1));
    await expect(dataKeys.toOpen("b/1", 1)).rejects.toMatchObject({ extras: { reason: "kms_unavailable" } });
    service.release();
    await Promise.all(waiting);
    await dataKeys.toOpen("b/1", 1);
  });

  it("bar#TS-12 keeps no caller over five seconds, and calls for none that gave up", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    service.hold();
    const results = Promise.allSettled(times(100, (at) => dataKeys.toOpen(`a/${at}`, 1)));
    const late = dataKeys.toSeal(1).then(
      () => undefined,
      (error: unknown) => error,
    );
    await vi.advanceTimersByTimeAsync(DATA_KEY_TIMEOUT_MS);
    expect((await results).filter(({ status }) => status === "rejected")).toHaveLength(100);
    expect(await late).toMatchObject({ status: 503, extras: { reason: "kms_unavailable" } });
    expect(service.state).toMatchObject({ opened: 20, made: 0 });
    service.release();
    await immediate();
    await immediate();
    expect(service.state).toMatchObject({ opened: 20, made: 0, now: 0 });
    // A key that arrived after its callers gave up serves the next caller, and the queue is free
    // again.
    await dataKeys.toOpen("a/0", 1);
    expect(service.state.opened).toBe(20);
    await dataKeys.toOpen("a/99", 1);
    await dataKeys.toSeal(1);
    expect(service.state).toMatchObject({ opened: 21, made: 1 });
  });
});

describe("keys in memory", () => {
  const isZero = (key: Buffer): boolean => key.every((byte) => byte === 0);

  it("bar#TS-13 are overwritten when they are dropped, after the code that waited has run", async () => {
    const key = await dataKeys.toOpen("a/7", 1);
    expect(isZero(key)).toBe(false);
    clock.advance(300);
    const anew = dataKeys.toOpen("a/7", 1);
    expect(isZero(key)).toBe(false);
    await anew;
    await immediate();
    expect(isZero(key)).toBe(true);
    expect(isZero(await anew)).toBe(false);
  });

  it("are intact for a caller that received them just before they are dropped", async () => {
    await dataKeys.toOpen("a/7", 1);
    const answered = dataKeys.toOpen("a/7", 1);
    clock.advance(300);
    const anew = dataKeys.toOpen("a/7", 1);
    const whole = async (): Promise<boolean> => {
      const key = await answered;
      return !isZero(key);
    };
    expect(await whole()).toBe(true);
    await anew;
  });

  it("are intact for every caller that waited, even when newer keys evict them", async () => {
    start({ maxEntries: 1 });
    const whole = await Promise.all(
      times(200, async (at) =>
        (await dataKeys.toOpen(`a/${1 + (at % 50)}`, 1)).every((byte) => byte === 1 + (at % 50)),
      ),
    );
    expect(whole).not.toContain(false);
  });

  it("bar#TS-13 are dropped in time, even without a request, by a clock that is never set back", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    start({ maxAgeSeconds: 60 });
    const first = await dataKeys.toOpen("a/1", 1);
    await vi.advanceTimersByTimeAsync(30_000);
    const second = await dataKeys.toOpen("a/2", 1);
    await vi.advanceTimersByTimeAsync(30_000);
    await immediate();
    expect([isZero(first), isZero(second)]).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(30_000);
    await immediate();
    expect(isZero(second)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("are overwritten at the end, those that arrive after it too", async () => {
    const { dataKey } = await dataKeys.toSeal(1);
    const opened = await dataKeys.toOpen("a/9", 1);
    const late = dataKeys.toOpen("a/8", 1);
    dataKeys.close();
    await immediate();
    expect([dataKey, opened].map((key) => isZero(key))).toEqual([true, true]);
    const lateKey = await late;
    expect(isZero(lateKey)).toBe(false);
    await immediate();
    expect(isZero(lateKey)).toBe(true);
    // Work that is still under way goes on, and its keys are not kept.
    expect(isZero((await dataKeys.toSeal(1)).dataKey)).toBe(false);
    expect(isZero((await dataKeys.toSeal(1)).dataKey)).toBe(false);
    expect(service.state.made).toBe(3);
  });
});
