import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import type { Refresh } from "./context.ts";
import {
  agedFixture,
  DUE,
  dueFixture,
  foreignLease,
  fresh,
  freshToken,
  KEY,
  newest,
  outage,
  refreshFixture,
} from "../testing/refresh/fixture.ts";

describe("step 3: one request", () => {
  it("bar#8.2-3 a lease that could end before the refresh is refused at start", () => {
    const fixture = refreshFixture();
    const at = (leaseSeconds: number) => (): unknown => fixture.process({ times: { leaseSeconds } });
    expect(at(26)).toThrow("leaseSeconds must exceed");
    expect(at(27)).not.toThrow();
  });

  it.each([
    [3999, 1],
    [4000, 1],
    [4001, 0],
  ])("bar#8.2-3 %i ms after it asked for the lease it sends %i requests", async (ms, requests) => {
    const fixture = await dueFixture();
    let isFirst = true;
    // The process is suspended between the lease and the request.
    fixture.faults.write = () => {
      if (isFirst) fixture.time.advance(ms / 1000);
      isFirst = false;
    };
    const answer = freshToken(fixture, fixture.process({ times: { waitMs: 0 } }));
    await answer.catch(() => undefined);
    expect(fixture.asked).toHaveLength(requests);
    // Nothing was sent, so the lease is given back.
    expect((await fixture.records.read(KEY))?.lease).toBeUndefined();
  });

  it("bar#8.2-3 a process that was suspended after its lease does not send, and the grant lives", async () => {
    const fixture = await dueFixture();
    const other = fixture.process();
    fixture.faults.written = async () => {
      fixture.faults.written = undefined;
      fixture.time.advance(40);
      await freshToken(fixture, other);
    };
    expect(await freshToken(fixture, fixture.process())).toBe(newest(fixture));
    expect(fixture.asked).toHaveLength(1);
    expect(fixture.vendor.live(KEY.user).refreshTokens).toHaveLength(1);
  });

  it("an outage of the keys is noticed before the vendor rotates", async () => {
    const fixture = await agedFixture(DUE);
    const old = newest(fixture);
    const leases = fixture.process();
    const seal = fixture.keys.toSeal;
    fixture.keys.toSeal = () => Promise.reject(outage("kms_unavailable"));
    expect(await freshToken(fixture, leases)).toBe(old);
    expect((await fixture.records.read(KEY))?.lease).toBeUndefined();
    expect(fixture.asked).toEqual([]);
    fixture.keys.toSeal = seal;
    expect(await freshToken(fixture, leases)).not.toBe(old);
  });

  it("a request to a vendor that hangs is aborted, and its refresh token counts as used", async () => {
    const fixture = await dueFixture();
    const leases = fixture.process({ times: { vendorTimeoutMs: 20 } });
    let reason: unknown;
    const heeds: Refresh = (_current, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
          reject(new DOMException("aborted", "AbortError"));
        });
      });
    const ignores: Refresh = () => new Promise(() => {});
    for (const refresh of [heeds, ignores]) {
      const error = await leases.withRefreshLease(KEY, refresh).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "temporarily_unavailable", extras: { reason: "vendor_unavailable" } });
      const { lease } = (await fixture.records.read(KEY))!;
      expect(lease?.until).toBe(fixture.time.now());
    }
    expect(reason).toMatchObject({ code: "temporarily_unavailable" });
  });
});

describe("step 4: stored before it is returned", () => {
  it("bar#RF-3 the old refresh token is kept sealed as previous, for its time", async () => {
    const fixture = refreshFixture();
    const { refreshToken } = await fixture.link();
    fixture.time.advance(DUE);
    const stored = await fixture.process({ times: { previousSeconds: 120 } }).withRefreshLease(KEY, fixture.refresh);
    const row = await fixture.records.read(KEY);
    expect(row?.previous?.refreshToken.reveal()).toBe(refreshToken?.reveal());
    expect(row?.previous?.until).toBe(fixture.time.now() + 120);
    expect(row?.stored.tokens).toEqual(stored?.tokens);
    expect(JSON.stringify(await fixture.attributes())).not.toContain(refreshToken?.reveal());
  });

  it("bar#RF-3 the next refresh drops it", async () => {
    const fixture = refreshFixture();
    const first = await fixture.link();
    const leases = fixture.process();
    for (let round = 0; round < 2; round += 1) {
      fixture.time.advance(DUE);
      await fresh(fixture, leases);
    }
    const { previous } = (await fixture.records.read(KEY))!;
    expect(previous?.refreshToken.reveal()).toBe(fixture.asked[1]);
    expect(previous?.refreshToken.reveal()).not.toBe(first.refreshToken?.reveal());
  });

  it.each(["none", "same"] as const)(
    "bar#RF-2 %s: the old refresh token goes on, nothing is previous",
    async (model) => {
      const fixture = refreshFixture({ model });
      const { refreshToken } = await fixture.link();
      fixture.time.advance(DUE);
      await fresh(fixture, fixture.process());
      const row = await fixture.records.read(KEY);
      expect(row?.stored.tokens.refreshToken?.reveal()).toBe(refreshToken?.reveal());
      expect(row?.previous).toBeUndefined();
    },
  );

  it("rfc6749#6 members that the answer leaves out are carried over, except its lifetime", async () => {
    const fixture = refreshFixture();
    const kept = {
      scope: "a b",
      idToken: new Secret("id"),
      vendorData: new Secret('{"realm":"1"}'),
      refreshExpiresAt: 1_800_000_000,
      clientId: "ours",
    };
    await fixture.records.replace(KEY, { ...(await fixture.link()), ...kept });
    fixture.time.advance(DUE);
    const answer = { accessToken: new Secret("at"), tokenType: "Bearer" };
    const stored = await fixture.process().withRefreshLease(KEY, async () => answer);
    expect(stored?.tokens).toEqual({ ...kept, ...answer, refreshToken: expect.any(Secret) });
  });

  it("tokens that are too large to be stored are the vendor's fault", async () => {
    const fixture = await dueFixture();
    const refresh: Refresh = async () => ({ accessToken: new Secret("x".repeat(33 * 1024)), tokenType: "Bearer" });
    await expect(fixture.process().withRefreshLease(KEY, refresh)).rejects.toMatchObject({
      code: "vendor_response_invalid",
      extras: { reason: "too_large" },
    });
    expect((await fixture.records.read(KEY))?.stored.version).toBe(1);
  });
});

describe("two processes with clocks apart", () => {
  it.each([
    [-5, 0],
    [-6, 1],
    [-300, 1],
  ])("bar#8.4 %i s: %i alarms, however often it is seen in a minute", async (clockOffset, alarms) => {
    const fixture = refreshFixture();
    await fixture.link();
    const leases = fixture.process({ clockOffset });
    for (let round = 0; round < 3; round += 1) await freshToken(fixture, leases);
    expect(fixture.names()).toEqual(Array.from({ length: alarms }, () => "clock_skew"));
    fixture.time.advance(60);
    await fixture.link();
    await freshToken(fixture, leases);
    expect(fixture.names()).toHaveLength(2 * alarms);
  });

  it("bar#8.4 a lease that is longer than one can be is an alarm, and heeded", async () => {
    const fixture = await dueFixture();
    await foreignLease(fixture, 330);
    await expect(freshToken(fixture, fixture.process())).rejects.toMatchObject({
      extras: { reason: "refresh_in_progress" },
    });
    expect(fixture.names()).toEqual(["clock_skew"]);
    expect(fixture.asked).toEqual([]);
  });
});
