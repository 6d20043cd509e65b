/** When data keys leave memory, and how many callers wait for the key service. */
import { systemTimer } from "@oauth-broker/oauth-core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { createDataKeys, type DataKeyLimits, type DataKeys } from "./data-keys.ts";
import { MAX_WAITING, DATA_KEY_TIMEOUT_MS } from "./data-keys-queue.ts";
import { type CountingWrapper, countingWrapper } from "../testing/aws/counting-wrapper.ts";

const CONTEXT = { purpose: "tokens" };
const START = 1_700_000_000;
const UNAVAILABLE = expect.objectContaining({ extras: { reason: "kms_unavailable" } });

let clock: ReturnType<typeof fixedClock>;
let service: CountingWrapper;
let dataKeys: DataKeys;

function start(limits: Partial<DataKeyLimits> = {}): void {
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
const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("bar#TS-13 the way to the key service", () => {
  it("bar#TS-13 is for twenty at once, sealing and opening together", async () => {
    await Promise.all([dataKeys.toSeal(1), ...times(200, (at) => dataKeys.toOpen(`a/${at}`, 1))]);
    expect(service.state).toMatchObject({ opened: 200, made: 1, peak: 20 });
  });

  it("bar#TS-13 allows as few as configured", async () => {
    start({ maxConcurrency: 3 });
    await Promise.all(times(50, (at) => dataKeys.toOpen(`a/${at}`, 1)));
    expect(service.state).toMatchObject({ opened: 50, peak: 3 });
  });

  it("bar#TS-12 refuses a call at once that would have to wait behind a thousand", async () => {
    service.hold();
    const waiting = times(20 + MAX_WAITING, (at) => dataKeys.toOpen(`a/${at}`, 1));
    await expect(dataKeys.toOpen("b/1", 1)).rejects.toThrow(UNAVAILABLE);
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
