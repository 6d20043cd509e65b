/**
 * The crash matrix (bar#8.2-F1 to bar#8.2-F12) at vendors of all models: processes killed (F1–F5,
 * F7–F9), cut off (F6), stopped (F10), with wrong clocks (F11) and ended in order (F12) in
 * mid-refresh. A process here is promises: one that is killed stops at a point and never goes on.
 * After each round the four invariants hold. processes.test.ts kills a real one.
 */
import { OAuthError, type Timer } from "@oauth-broker/oauth-core";
import { REFRESH_MODELS } from "@oauth-broker/simulators/refresh-models";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { dueFixture, type Fixture, isCommit, KEY, newest, outage, tokenOf } from "../testing/refresh/fixture.ts";
import type { TokenRecords } from "../tokens/token-records.ts";
import { createRefreshLeases, type RefreshLeases } from "./refresh.ts";

/** After the first read; with the lease; the vendor has rotated; its answer; sealed; committed. */
type Point = "read" | "leased" | "rotated" | "answered" | "sealed" | "committed";

/** A caller waits longer than a lease, and does not look often. */
const PATIENT = { times: { waitMs: 40_000, pollMs: 1_000 } };
/** What a caller gets whose user must authorize again. */
const DEAD = "reauthorization_required";

interface Stopping {
  readonly answer: Promise<string | undefined>;
  goOn(): void;
}

/** @returns once a process that refreshes has come to the point, where everything in it stops */
async function stoppedAt(point: Point, fixture: Fixture): Promise<Stopping> {
  const { time, records, events, at } = fixture;
  const [reached, stop] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let running: Promise<void> = Promise.resolve();
  let isLeased = false;
  const pass = async <T>(work: Promise<T>, here?: Point): Promise<T> => {
    const value = await work;
    if (here === point) {
      running = stop.promise;
      reached.resolve();
    }
    await running;
    return value;
  };
  const own: TokenRecords = {
    ...records,
    read: (key) => pass(records.read(key), "read"),
    note: async (over, note) => {
      const isLease = note.lease !== undefined && note.lease !== null;
      isLeased ||= isLease;
      return pass(records.note(over, note), isLease ? "leased" : undefined);
    },
    // Without the lease it is only the trial sealing.
    seal: (...args) => pass(records.seal(...args), isLeased ? "sealed" : undefined),
    commit: (change) => pass(records.commit(change), "committed"),
  };
  const timer: Timer = {
    ...time.timer,
    sleep: (...args) => pass(time.timer.sleep(...args)),
    after: (ms, wake) => time.timer.after(ms, () => void running.then(wake)),
  };
  if (point === "rotated") {
    at.after = () => {
      at.after = undefined;
      return pass(Promise.resolve(), "rotated");
    };
  }
  const onEvent = (event: Fixture["events"][number]): void => void events.push(event);
  const leases = createRefreshLeases(PATIENT, { records: own, now: time.now, timer, onEvent });
  const answer = leases
    .withRefreshLease(KEY, (...args) => pass(fixture.refresh(...args), "answered"))
    .then(tokenOf, reasonOf);
  await reached.promise;
  return {
    answer,
    goOn: () => {
      running = Promise.resolve();
      stop.resolve();
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof OAuthError ? String(error.extras.reason) : String(error);
}

/** A caller in another process. */
function next(fixture: Fixture, leases: RefreshLeases = fixture.process(PATIENT)): Promise<string | undefined> {
  return leases.withRefreshLease(KEY, fixture.refresh).then(tokenOf, reasonOf);
}

interface Expected {
  readonly commits: number;
  /** Commits of a process that was killed before it could report them. */
  readonly unreported?: number;
  /** How often the vendor was asked. */
  readonly calls: number;
  /** Whether the user must authorize again, because an answer was lost. */
  readonly isLost?: boolean;
}

async function expectSound(
  fixture: Fixture,
  { commits, unreported = 0, calls, isLost = false }: Expected,
): Promise<void> {
  const { records, vendor, events, asked } = fixture;
  // (1) It decrypts: read throws otherwise.
  const current = await records.read(KEY);
  // (2) The version grew by the number of commits.
  expect(events.filter(({ name }) => name === "refreshed").length + unreported).toBe(commits);
  expect(current?.stored.version).toBe(1 + commits);
  // (3) The vendor accepts our refresh token, or the row says that the user must authorize again.
  const reasons = events.flatMap((event) => (event.name === "reauthorize" ? [event.reason] : []));
  expect(reasons).toEqual(isLost ? ["refresh_lost"] : []);
  expect(current?.stored.status).toBe(isLost ? "reauthorize" : "active");
  const { refreshTokens, accessTokens } = vendor.live(KEY.user);
  if (!isLost) {
    expect(refreshTokens).toContain(current?.stored.tokens.refreshToken?.reveal());
    expect(accessTokens).toContain(tokenOf(current?.stored));
  }
  // (4) No more calls than allowed.
  expect(asked).toHaveLength(calls);
  expect(current?.lease).toBeUndefined();
}

const isLeased = async ({ records }: Fixture): Promise<boolean> => (await records.read(KEY))?.lease !== undefined;

describe.each(REFRESH_MODELS)("at a vendor of model %s", (model) => {
  /** One that forgives no repetition. */
  const isStrict = model === "strict";
  const fixture = ofEachTest(() => dueFixture({ model, graceSeconds: 120 }));

  it.each<[string, Point, Partial<Expected>]>([
    ["bar#8.2-F1 killed after the read: nothing is lost, no caller waits", "read", {}],
    ["bar#8.2-F2 killed with the lease: the next caller succeeds when that has ended", "leased", {}],
    ["bar#8.2-F7 killed after its commit: the next caller reads the new token", "committed", { unreported: 1 }],
  ])("%s", async (_what, point, expected) => {
    await stoppedAt(point, fixture);
    expect(await isLeased(fixture)).toBe(point === "leased");
    const since = fixture.time.timer.elapsedMs();
    expect(await next(fixture)).toBe(newest(fixture));
    expect(fixture.time.timer.elapsedMs() > since).toBe(point === "leased");
    await expectSound(fixture, { commits: 1, calls: 1, ...expected });
  });

  // The vendor has rotated: recovered if it allows that, else reported once and never tried again.
  it.each<[string, Point]>([
    ["bar#8.2-F3 bar#RF-5 killed before the vendor's answer was received", "rotated"],
    ["bar#8.2-F4 bar#RF-5 killed with the vendor's answer", "answered"],
    ["bar#8.2-F5 bar#RF-5 killed with the vendor's answer sealed", "sealed"],
  ])("%s", async (_what, point) => {
    await stoppedAt(point, fixture);
    const answers = [await next(fixture), await next(fixture), await next(fixture)];
    expect(answers).toEqual(Array.from({ length: 3 }, () => (isStrict ? DEAD : newest(fixture))));
    await expectSound(fixture, { commits: isStrict ? 0 : 1, calls: 2, isLost: isStrict });
  });

  it("bar#8.2-F6 bar#8.2-5 not answered about its commit, for seconds: recognised, one vendor call", async () => {
    const back = fixture.time.now() + 4;
    let lost = 0;
    fixture.faults.write = (change) => {
      if (!isCommit(change)) return undefined;
      if (lost > 0 && fixture.time.now() < back) throw outage();
      lost += 1;
      return lost === 1 ? "lose" : undefined;
    };
    expect(await next(fixture)).toBe(newest(fixture));
    expect([lost, fixture.time.now()]).toEqual([2, back]);
    await expectSound(fixture, { commits: 1, calls: 1 });
  });

  it("bar#8.2-F8 killed with half of its reply sent: the same", async () => {
    const reply = await next(fixture);
    expect(await isLeased(fixture)).toBe(false);
    expect([reply, await next(fixture)]).toEqual([newest(fixture), newest(fixture)]);
    await expectSound(fixture, { commits: 1, calls: 1 });
  });

  it("bar#8.2-F9 killed with 500 waiters: all are answered alike, two vendor calls", async () => {
    await stoppedAt("rotated", fixture);
    const other = fixture.process(PATIENT);
    const answers = await Promise.all(Array.from({ length: 500 }, () => next(fixture, other)));
    expect(new Set(answers)).toEqual(new Set([isStrict ? DEAD : newest(fixture)]));
    await expectSound(fixture, { commits: isStrict ? 0 : 1, calls: 2, isLost: isStrict });
  });

  it("bar#8.2-F10 stopped for longer than its lease: fenced, the row never goes backwards", async () => {
    const zombie = await stoppedAt("sealed", fixture);
    expect(await next(fixture)).toBe(isStrict ? DEAD : newest(fixture));
    const before = await fixture.attributes();
    zombie.goOn();
    // It gets the tokens of the row, and not its own.
    expect(await zombie.answer).toBe(await next(fixture));
    expect(await fixture.attributes()).toEqual(before);
    expect(fixture.names().at(-1)).toBe("refresh_fenced");
    await expectSound(fixture, { commits: isStrict ? 0 : 1, calls: 2, isLost: isStrict });
  });

  it("bar#8.2-F11 bar#8.4 clocks 5 s apart make one call; one 5 min behind waits and alarms", async () => {
    fixture.time.advance(1000);
    const others = [5, -5, -300].map((clockOffset) => fixture.process({ clockOffset }));
    const holder = await stoppedAt("rotated", fixture);
    const answers = others.flatMap((leases) => Array.from({ length: 10 }, () => next(fixture, leases)));
    await fixture.time.timer.sleep(500);
    expect(fixture.names()).toEqual(["clock_skew"]);
    holder.goOn();
    expect(new Set(await Promise.all(answers))).toEqual(new Set([await holder.answer]));
    await expectSound(fixture, { commits: 1, calls: 1 });
    expect(fixture.names()).toEqual(["clock_skew", "refreshed"]);
  });

  it("bar#8.2-F11 bar#8.4 with a clock 5 min ahead: nothing is committed twice, and an alarm", async () => {
    const holder = await stoppedAt("rotated", fixture);
    const ahead = await next(fixture, fixture.process({ clockOffset: 300 }));
    holder.goOn();
    expect(ahead).toBe(await holder.answer);
    await expectSound(fixture, { commits: isStrict ? 0 : 1, calls: 2, isLost: isStrict });
    expect(fixture.names()).toContain("clock_skew");
  });

  it("bar#8.2-F12 asked to stop in mid-refresh: it finishes and commits before it exits", async () => {
    const gate = Promise.withResolvers<void>();
    fixture.at.after = () => gate.promise;
    const leases = fixture.process();
    const answer = next(fixture, leases);
    const drained = leases.drain(10_000);
    await fixture.time.timer.sleep(200);
    gate.resolve();
    expect(await drained).toBe(0);
    expect(await answer).toBe(newest(fixture));
    await expectSound(fixture, { commits: 1, calls: 1 });
  });
});
