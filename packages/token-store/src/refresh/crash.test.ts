/**
 * The crash matrix (bar#8.2-F1 to bar#8.2-F12): processes killed (F1–F5, F7–F9), cut off (F6),
 * stopped (F10), with wrong clocks (F11) and ended in order (F12) in mid-refresh, at vendors of
 * five models. After each round the four invariants hold. The soak does a round of every
 * point at all five. `npm test` does it at the strictest model, and where the one that is more
 * patient recovers, at that too.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { patience, volume } from "@oauth-broker/oauth-core/testing";
import { startFaultProxy } from "@oauth-broker/simulators/aws";
import { REFRESH_MODELS, type RefreshModel } from "@oauth-broker/simulators/refresh-models";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CrashFixture, startCrashFixture, TIMES } from "../testing/refresh/crash-fixture.ts";
import { DEAD, expectFresh, expectRecovered, killedAt, readToTheEnd } from "../testing/refresh/crash-rounds.ts";

/** One that forgives no repetition. */
const MODELS = volume<readonly RefreshModel[]>({ test: ["strict"], soak: REFRESH_MODELS });
/** And one that does for a while. */
const RECOVERING = volume<readonly RefreshModel[]>({ test: ["strict", "grace"], soak: REFRESH_MODELS });
/**
 * Five points at a time, each with users and processes of its own: most of a round is waiting for a
 * lease to end. The soak has five models at a time instead.
 */
const describePoints = volume<typeof describe | typeof describe.concurrent>({
  test: describe.concurrent,
  soak: describe,
});

/** If no lease has to end, a busy machine gets the time it takes. */
const PATIENT_TIMES = {
  ...TIMES,
  leaseSeconds: patience(3),
  vendorTimeoutMs: patience(1_000),
  storeBudgetMs: patience(500),
  commitMs: patience(6_000),
};

let fixture: CrashFixture;
beforeAll(async () => {
  fixture = await startCrashFixture();
});
afterAll(() => fixture.close());

/** The models at the same time. */
async function everyModel(round: (model: RefreshModel) => Promise<void>, models = MODELS): Promise<void> {
  await Promise.all(models.map(round));
}

describePoints("a process killed before the vendor was asked", () => {
  it("bar#8.2-F1 after the read: nothing is lost, no caller waits", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      const child = await killedAt("read", round);
      expect(await round.isLeased()).toBe(false);
      await expectFresh(round);
      await round.expectSound({ commits: 1, calls: 1 }, child);
    }));

  it("bar#8.2-F2 with the lease: the next caller succeeds when that has ended", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      const child = await killedAt("leased", round);
      expect(await round.isLeased()).toBe(true);
      await expectFresh(round);
      await round.expectSound({ commits: 1, calls: 1 }, child);
    }));
});

describePoints("a process killed when the vendor had rotated", () => {
  it("bar#8.2-F3 bar#RF-5 before its answer was received", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      const child = await round.start();
      const held = round.vendor.hold(round.user, "after");
      child.call([round.user]).catch(() => undefined);
      await held.reached;
      await child.kill();
      held.release();
      await expectRecovered(round, child);
    }, RECOVERING));

  it("bar#8.2-F4 bar#RF-5 with its answer", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      await expectRecovered(round, await killedAt("answered", round));
    }, RECOVERING));

  it("bar#8.2-F5 bar#RF-5 with its answer sealed", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      await expectRecovered(round, await killedAt("sealed", round));
    }, RECOVERING));
});

describePoints("a process that has committed", () => {
  it("bar#8.2-F6 and does not hear of it, once or for seconds: recognised, one vendor call", () =>
    everyModel(async (model) => {
      const proxy = await startFaultProxy({ target: fixture.engine.endpoint });
      const round = await fixture.round(model, { times: PATIENT_TIMES, endpoint: proxy.endpoint });
      proxy.set({ loseAnswers: "conditional-writes-once" });
      const child = await round.start();
      const held = round.vendor.hold(round.user, "after");
      const answers = child.call([round.user]);
      await held.reached;
      // Longer than the store tries by itself: then it is the commit as a whole that is repeated.
      proxy.set({ loseAnswers: "all", operations: ["UpdateItem"] });
      held.release();
      // The store's deadline is 2.5 s. A busy child comes to the vendor's answer late.
      await expect.poll(() => proxy.counts().lost).toBeGreaterThan(1);
      await sleep(4000);
      proxy.set({});
      const { [round.user]: got } = await answers;
      expect(got).toEqual({ [`token ${round.vendor.live(round.user).accessTokens.at(-1)}`]: 1 });
      expect(proxy.counts().lost).toBeGreaterThan(1);
      await expectFresh(round);
      await round.expectSound({ commits: 1, calls: 1 }, child);
      await child.kill();
      await proxy.close();
    }));

  it("bar#8.2-F7 killed before it replies: the next caller reads the new token", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      const child = await killedAt("committed", round);
      expect(await round.isLeased()).toBe(false);
      await expectFresh(round);
      await round.expectSound({ commits: 1, unreported: 1, calls: 1 }, child);
    }));

  it("bar#8.2-F8 killed with half of its reply sent: the same", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      const child = await round.start();
      const url = await child.serve("replied");
      const reply = readToTheEnd(`${url}/${encodeURIComponent(round.user)}`);
      await child.stopped();
      await child.kill();
      const half = await reply;
      const whole = `token ${round.vendor.live(round.user).accessTokens.at(-1)}`;
      expect(half).toBe(whole.slice(0, whole.length / 2));
      expect(await round.isLeased()).toBe(false);
      await expectFresh(round);
      await round.expectSound({ commits: 1, calls: 1 }, child);
    }));
});

describePoints("others beside it", () => {
  it("bar#8.2-F9 killed with 500 waiters: all are answered alike, two vendor calls at most", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      const [holder, other] = [await round.start(), await round.start()];
      const held = round.vendor.hold(round.user, "after");
      holder.call([round.user]).catch(() => undefined);
      await held.reached;
      const waiters = other.call([round.user], { callers: 500 });
      await sleep(200);
      await holder.kill();
      held.release();
      const { [round.user]: got } = await waiters;
      const isLost = model === "strict";
      const answer = isLost ? DEAD : `token ${round.vendor.live(round.user).accessTokens.at(-1)}`;
      expect(got).toEqual({ [answer]: 500 });
      await round.expectSound(
        { commits: isLost ? 0 : 1, calls: 2, reauthorize: isLost ? "refresh_lost" : undefined },
        holder,
        other,
      );
      await other.kill();
    }));

  it("bar#8.2-F10 stopped for longer than its lease: fenced, the row never goes backwards", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model);
      const zombie = await round.start();
      const answers = zombie.call([round.user], { stopAt: "sealed" });
      await zombie.stopped();
      zombie.signal("SIGSTOP");
      const isLost = model === "strict";
      if (isLost) expect(await round.next()).toBe(DEAD);
      else await expectFresh(round);
      const before = await round.version();
      zombie.signal("SIGCONT");
      zombie.go();
      const { [round.user]: got } = await answers;
      expect(await round.version()).toBe(before);
      expect(zombie.events.map(({ name }) => name)).toEqual(["refresh_fenced"]);
      // It gets the tokens of the row, and not its own.
      expect(got).toEqual({ [await round.next()]: 1 });
      await round.expectSound(
        { commits: isLost ? 0 : 1, calls: 2, reauthorize: isLost ? "refresh_lost" : undefined },
        zombie,
      );
      await zombie.kill();
    }));

  it("bar#8.2-F11 bar#8.4 clocks 5 s apart make one call; one 5 min behind waits and alarms", () =>
    everyModel(async (model) => {
      // As in production: only these times allow for that much.
      const round = await fixture.round(model, { times: {} });
      const children = await Promise.all([5, -5, -300].map((clockOffset) => round.start({ clockOffset })));
      const held = round.vendor.hold(round.user, "after");
      const first = round.next();
      await held.reached;
      const others = children.map((child) => child.call([round.user], { callers: 10 }));
      await sleep(500);
      held.release();
      const answer = await first;
      for (const got of await Promise.all(others)) expect(got).toEqual({ [round.user]: { [answer]: 10 } });
      await round.expectSound({ commits: 1, calls: 1 }, ...children);
      expect(children.map((child) => child.events.map(({ name }) => name))).toEqual([[], [], ["clock_skew"]]);
      await Promise.all(children.map((child) => child.kill()));
    }));

  it("bar#8.2-F11 bar#8.4 with a clock 5 min ahead: nothing is committed twice, and an alarm", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model, { times: {} });
      const child = await round.start({ clockOffset: 300 });
      const held = round.vendor.hold(round.user, "after");
      const first = round.next();
      await held.reached;
      const { [round.user]: got } = await child.call([round.user]);
      held.release();
      expect(got).toEqual({ [await first]: 1 });
      const isLost = model === "strict";
      await round.expectSound(
        { commits: isLost ? 0 : 1, calls: 2, reauthorize: isLost ? "refresh_lost" : undefined },
        child,
      );
      expect(round.events.map(({ name }) => name)).toContain("clock_skew");
      await child.kill();
    }));

  it("bar#8.2-F12 stopped with SIGTERM in mid-refresh: it finishes and commits before it exits", () =>
    everyModel(async (model) => {
      const round = await fixture.round(model, { times: { ...TIMES, vendorTimeoutMs: 3000, leaseSeconds: 8 } });
      const child = await round.start();
      const held = round.vendor.hold(round.user, "after");
      const answers = child.call([round.user]);
      await held.reached;
      child.signal("SIGTERM");
      await sleep(200);
      held.release();
      const { [round.user]: got } = await answers;
      expect(await child.ended()).toBe(0);
      expect(got).toEqual({ [await round.next()]: 1 });
      await round.expectSound({ commits: 1, calls: 1 }, child);
    }));
});
