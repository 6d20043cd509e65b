import { describe, expect, it, vi } from "vitest";
import { dueFixture, fresh, KEY, newest, storeDown, tokenOf } from "../testing/refresh/fixture.ts";
import type { TokenSet } from "../tokens/tokens.ts";

describe("another process wrote meanwhile", () => {
  it("bar#8.2-7 a process that was suspended is fenced: the row never goes backwards", async () => {
    const fixture = await dueFixture({ model: "grace", graceSeconds: 60 });
    const [zombie, other] = [fixture.process(), fixture.process()];
    let seen: number | undefined;
    fixture.at.after = async () => {
      fixture.at.after = undefined;
      fixture.time.advance(40);
      seen = (await fresh(fixture, other))?.version;
    };
    const discard = vi.fn<() => void>();
    const stored = await zombie.withRefreshLease(KEY, fixture.refresh, { discard });
    expect([seen, stored?.version]).toEqual([2, 2]);
    expect(tokenOf(stored)).toBe(newest(fixture));
    expect(fixture.names()).toEqual(["refreshed", "refresh_fenced"]);
    expect(fixture.asked).toHaveLength(2);
    // To revoke what was dropped could end the grant that the row lives on.
    expect(discard).not.toHaveBeenCalled();
  });

  it.each(["revoked", "removed"])(
    "bar#RV-4 %s during the refresh: nothing is stored, the new tokens are discarded",
    async (how) => {
      const fixture = await dueFixture();
      fixture.at.after = async () => {
        const current = (await fixture.records.read(KEY))!;
        await fixture.records.note(current, { status: "revoked" });
        if (how === "removed") await fixture.records.deleteRevoked(KEY);
      };
      const discarded: TokenSet[] = [];
      const leases = fixture.process();
      const answer = await leases.withRefreshLease(KEY, fixture.refresh, {
        discard: async (tokens) => void discarded.push(tokens),
      });
      expect(answer).toBeUndefined();
      expect(discarded.map(({ accessToken }) => accessToken.reveal())).toEqual([newest(fixture)]);
      expect((await fixture.records.read(KEY))?.stored.version).toBe(how === "revoked" ? 1 : undefined);
      expect(fixture.names()).toEqual([]);
    },
  );

  it("bar#RV-4 a revocation that the vendor cannot take is an event, and drain waits for the try", async () => {
    const fixture = await dueFixture();
    fixture.at.after = async () => {
      await fixture.records.note((await fixture.records.read(KEY))!, { status: "revoked" });
    };
    const leases = fixture.process();
    const gate = Promise.withResolvers<void>();
    await leases.withRefreshLease(KEY, fixture.refresh, { discard: () => gate.promise });
    expect(await leases.drain(100)).toBe(1);
    gate.reject(new Error("no"));
    await fixture.time.timer.sleep(1);
    expect(fixture.names()).toEqual(["discard_failed"]);
  });

  it("bar#RV-4 revoked while the store would not take the commit", async () => {
    const fixture = await dueFixture();
    const up = storeDown(fixture);
    const discarded: TokenSet[] = [];
    const leases = fixture.process({ times: { commitMs: 0 } });
    const discard = (tokens: TokenSet): void => void discarded.push(tokens);
    await leases.withRefreshLease(KEY, fixture.refresh, { discard }).catch(() => undefined);
    await fixture.records.note((await fixture.records.read(KEY))!, { status: "revoked" });
    up();
    expect(await leases.drain(5000)).toBe(0);
    expect(discarded).toHaveLength(1);
    expect((await fixture.records.read(KEY))?.stored.version).toBe(1);
  });

  it("bar#8.4 a lease that was taken while ours still ran is an alarm", async () => {
    const fixture = await dueFixture({ model: "grace" });
    fixture.at.after = async () => {
      fixture.at.after = undefined;
      const lease = { owner: "ahead", until: fixture.time.now() + 330, attemptId: "ahead" };
      await fixture.records.note((await fixture.records.read(KEY))!, { lease });
    };
    await expect(fresh(fixture, fixture.process())).rejects.toMatchObject({
      extras: { reason: "refresh_in_progress" },
    });
    expect(fixture.names()).toEqual(["refresh_fenced", "clock_skew", "clock_skew"]);
  });
});

it("drain waits for a refresh under way, and no longer than drainMs", async () => {
  const fixture = await dueFixture();
  const gate = Promise.withResolvers<void>();
  fixture.at.before = () => gate.promise;
  const leases = fixture.process();
  const answer = fresh(fixture, leases);
  expect(await leases.drain(500)).toBe(1);
  const drained = leases.drain(60_000);
  gate.resolve();
  expect(await drained).toBe(0);
  expect(tokenOf(await answer)).toBe(newest(fixture));
});
