import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import {
  agedFixture,
  crash,
  dueFixture,
  type Fixture,
  fresh,
  KEY,
  LIFE_SECONDS,
  newest,
  outage,
  REAUTHORIZE,
  refreshFixture,
  refusal,
  storeDown,
} from "../testing/refresh/fixture.ts";

/** One process is refused and cannot note it; then the store is back, and another one asks. */
async function refusedWhileNothingIsNoted(fixture: Fixture): Promise<void> {
  fixture.faults.write = ({ set }) => {
    if (set["status"] === "reauthorize") throw outage();
  };
  expect(await refusal(fixture, fixture.process())).toMatchObject({ extras: { reason: "store_unavailable" } });
  fixture.faults.write = undefined;
  const backAt = fixture.time.timer.elapsedMs();
  expect(await refusal(fixture, fixture.process())).toMatchObject(REAUTHORIZE);
  expect(fixture.time.timer.elapsedMs() - backAt).toBeLessThan(1_000);
}

describe("invalid_grant", () => {
  it("bar#RF-4 ends the record, once: one event, no further call", async () => {
    const fixture = await dueFixture();
    fixture.vendor.revoke(fixture.vendor.live(KEY.user).refreshTokens[0]!);
    const processes = [fixture.process(), fixture.process()];
    for (const leases of [...processes, ...processes])
      expect(await refusal(fixture, leases)).toMatchObject(REAUTHORIZE);
    expect(fixture.asked).toHaveLength(1);
    expect(fixture.names()).toEqual(["reauthorize: refused"]);
    const row = await fixture.records.read(KEY);
    expect([row?.stored.status, row?.lease]).toEqual(["reauthorize", undefined]);
  });

  it("bar#RF-4 also while the access token would still live, and for every caller that waits", async () => {
    const fixture = await agedFixture(LIFE_SECONDS - 60);
    fixture.vendor.revoke(fixture.vendor.live(KEY.user).refreshTokens[0]!);
    const leases = fixture.process();
    const answers = await Promise.all(Array.from({ length: 5 }, () => refusal(fixture, leases)));
    for (const answer of answers) expect(answer).toMatchObject(REAUTHORIZE);
    expect(fixture.names()).toEqual(["reauthorize: refused"]);
  });

  it("bar#RF-4 a new authorization makes it active again", async () => {
    const fixture = await dueFixture();
    fixture.vendor.revoke(fixture.vendor.live(KEY.user).refreshTokens[0]!);
    const leases = fixture.process();
    await refusal(fixture, leases);
    const { accessToken } = await fixture.link();
    expect((await fresh(fixture, leases))?.tokens.accessToken.reveal()).toBe(accessToken.reveal());
  });

  it("bar#RF-4 another process was faster: its tokens are used", async () => {
    const fixture = await dueFixture();
    // The vendor refuses because the user authorized again in the meantime, which ended the old
    // grant.
    fixture.at.before = async () => {
      fixture.at.before = undefined;
      await fixture.link();
    };
    const stored = await fresh(fixture, fixture.process());
    expect(stored?.version).toBe(2);
    expect(stored?.tokens.accessToken.reveal()).toBe(newest(fixture));
    expect(fixture.names()).toEqual([]);
  });

  it("bar#RF-4 the store is down just then: nothing is decided", async () => {
    const fixture = await dueFixture();
    fixture.vendor.revoke(fixture.vendor.live(KEY.user).refreshTokens[0]!);
    fixture.at.after = () => {
      fixture.faults.read = () => {
        throw outage();
      };
    };
    const leases = fixture.process();
    expect(await refusal(fixture, leases)).toMatchObject({ extras: { reason: "store_unavailable" } });
    fixture.faults.read = undefined;
    fixture.at.after = undefined;
    expect((await fixture.records.read(KEY))?.stored.status).toBe("active");
    expect(await refusal(fixture, leases)).toMatchObject(REAUTHORIZE);
  });

  it("bar#RF-4 the store is down when the end is to be noted: the next caller need not wait", async () => {
    const fixture = await dueFixture();
    fixture.vendor.revoke(fixture.vendor.live(KEY.user).refreshTokens[0]!);
    await refusedWhileNothingIsNoted(fixture);
    expect(fixture.names()).toEqual(["reauthorize: refused"]);
  });

  it("no refresh token and no life: the vendor is not asked", async () => {
    const fixture = refreshFixture();
    const { refreshToken: _, ...tokens } = await fixture.link();
    await fixture.records.replace(KEY, tokens);
    fixture.time.advance(LIFE_SECONDS - 1);
    const leases = fixture.process();
    expect((await fresh(fixture, leases))?.version).toBe(2);
    fixture.time.advance(1);
    expect(await refusal(fixture, leases)).toMatchObject(REAUTHORIZE);
    expect(fixture.names()).toEqual(["reauthorize: no_refresh_token"]);
    expect(fixture.asked).toEqual([]);
  });
});

describe("after a crash of our own", () => {
  /**
   * A vendor that does not accept its newest refresh token, not yet or no longer, but accepts the
   * one before it.
   */
  async function withPrevious({ crashed = true } = {}): Promise<{ fixture: Fixture; first: string }> {
    const fixture = refreshFixture({ model: "same" });
    const first = (await fixture.link()).refreshToken!.reveal();
    const rotated = {
      accessToken: new Secret("at-2"),
      refreshToken: new Secret("rt-2"),
      tokenType: "Bearer",
      expiresAt: 0,
    };
    fixture.time.advance(LIFE_SECONDS);
    await fixture.process().withRefreshLease(KEY, async () => rotated);
    if (crashed) await crash(fixture);
    fixture.events.length = 0;
    return { fixture, first };
  }

  it.each([
    [299, "refreshed"],
    [300, "reauthorize: refresh_lost"],
    [301, "reauthorize: refresh_lost"],
  ])("bar#RF-5 %i s after the rotation the previous refresh token is tried once: %s", async (seconds, event) => {
    const { fixture, first } = await withPrevious();
    fixture.time.advance(seconds - 30);
    await refusal(fixture, fixture.process());
    expect(fixture.asked).toEqual(seconds < 300 ? ["rt-2", first] : ["rt-2"]);
    expect(fixture.names()).toEqual([event]);
    const row = await fixture.records.read(KEY);
    if (seconds < 300) expect(row?.stored.tokens.refreshToken?.reveal()).toBe(first);
    expect(row?.lease).toBeUndefined();
  });

  it("bar#RF-5 the previous one is refused, too: lost", async () => {
    const { fixture, first } = await withPrevious();
    fixture.vendor.revoke(first);
    expect(await refusal(fixture, fixture.process())).toMatchObject(REAUTHORIZE);
    expect(fixture.asked).toEqual(["rt-2", first]);
    expect(fixture.names()).toEqual(["reauthorize: refresh_lost"]);
  });

  it("bar#RF-5 the previous one is refused while the store is down: no wait after", async () => {
    const { fixture, first } = await withPrevious();
    fixture.vendor.revoke(first);
    await refusedWhileNothingIsNoted(fixture);
    expect(fixture.names()).toEqual(["reauthorize: refresh_lost"]);
  });

  it("bar#RF-5 while that response waits for the store, no other process sends", async () => {
    const { fixture, first } = await withPrevious();
    const back = storeDown(fixture);
    expect(await refusal(fixture, fixture.process())).toMatchObject({ extras: { reason: "store_unavailable" } });
    back();
    expect((await fresh(fixture, fixture.process()))?.version).toBe(3);
    expect(fixture.asked).toEqual(["rt-2", first]);
  });

  it("bar#RF-5 an outage during that try decides nothing", async () => {
    const { fixture } = await withPrevious();
    fixture.at.before = () => (fixture.asked.length === 2 ? Promise.reject(outage("vendor_unavailable")) : undefined);
    const leases = fixture.process();
    expect(await refusal(fixture, leases)).toMatchObject({ code: "temporarily_unavailable" });
    const row = await fixture.records.read(KEY);
    expect([row?.stored.status, row?.lease?.until]).toEqual(["active", fixture.time.now()]);
    fixture.at.before = undefined;
    expect((await fresh(fixture, leases))?.version).toBe(3);
  });

  it("bar#RF-5 without a crash the previous one is not tried", async () => {
    const { fixture } = await withPrevious({ crashed: false });
    expect(await refusal(fixture, fixture.process())).toMatchObject(REAUTHORIZE);
    expect(fixture.asked).toEqual(["rt-2"]);
    expect(fixture.names()).toEqual(["reauthorize: refused"]);
  });

  it("the trace of a crash survives an attempt that failed before anything was sent", async () => {
    const fixture = await dueFixture();
    await crash(fixture);
    const leases = fixture.process();
    fixture.at.before = () => Promise.reject(outage("vendor_unavailable"));
    await refusal(fixture, leases);
    fixture.at.before = undefined;
    await refusal(fixture, leases);
    expect(fixture.names()).toEqual(["refresh_failed", "reauthorize: refresh_lost"]);
  });
});
