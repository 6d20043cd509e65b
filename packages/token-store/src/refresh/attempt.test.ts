import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import type { Refresh } from "./context.ts";
import type { RefreshLeases } from "./refresh.ts";
import { type Bench, KEY, LIFE_SECONDS, outage, refreshBench, ROW, tokenOf } from "../testing/refresh-bench.ts";

const DUE = LIFE_SECONDS - 65;

const fresh = async (bench: Bench, leases: RefreshLeases): Promise<string | undefined> =>
  tokenOf(await leases.withRefreshLease(KEY, bench.refresh));
/** A lease of a process that is not there. */
const foreignLease = async (bench: Bench, seconds: number): Promise<void> => {
  const until = bench.time.now() + seconds;
  await bench.records.note((await bench.records.read(KEY))!, { lease: { owner: "other", until, attemptId: "other" } });
};

describe("step 3: one question", () => {
  it("bar#8.2-3 a lease that could end before the refresh is refused at start", () => {
    const bench = refreshBench();
    const at = (leaseSeconds: number) => (): unknown => bench.process({ times: { leaseSeconds } });
    expect(at(26)).toThrow("leaseSeconds must exceed");
    expect(at(27)).not.toThrow();
  });

  it.each([
    [3999, 1],
    [4000, 1],
    [4001, 0],
  ])("bar#8.2-3 %i ms after it asked for the lease it sends %i requests", async (ms, requests) => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    let isFirst = true;
    // The process stands still between the lease and the request.
    bench.faults.write = () => {
      if (isFirst) bench.time.advance(ms / 1000);
      isFirst = false;
    };
    const answer = fresh(bench, bench.process({ times: { waitMs: 0 } }));
    await answer.catch(() => undefined);
    expect(bench.asked).toHaveLength(requests);
    // Nothing was sent, so the lease is given back.
    expect((await bench.records.read(KEY))?.lease).toBeUndefined();
  });

  it("bar#8.2-3 a process that stood still after its lease does not send, and the grant lives", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    const other = bench.process();
    bench.faults.written = async () => {
      bench.faults.written = undefined;
      bench.time.advance(40);
      await fresh(bench, other);
    };
    expect(await fresh(bench, bench.process())).toBe(bench.vendor.live(KEY.user).accessTokens.at(-1));
    expect(bench.asked).toHaveLength(1);
    expect(bench.vendor.live(KEY.user).refreshTokens).toHaveLength(1);
  });

  it("keys that are away are noticed before the vendor rotates", async () => {
    const bench = refreshBench();
    const old = (await bench.link()).accessToken.reveal();
    bench.time.advance(DUE);
    const leases = bench.process();
    const seal = bench.keys.toSeal;
    bench.keys.toSeal = () => Promise.reject(outage("kms_unavailable"));
    expect(await fresh(bench, leases)).toBe(old);
    expect((await bench.records.read(KEY))?.lease).toBeUndefined();
    expect(bench.asked).toEqual([]);
    bench.keys.toSeal = seal;
    expect(await fresh(bench, leases)).not.toBe(old);
  });

  it("a vendor that hangs is given up, and its refresh token counted as used", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    const leases = bench.process({ times: { vendorTimeoutMs: 20 } });
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
      const { lease } = (await bench.records.read(KEY))!;
      expect(lease?.until).toBe(bench.time.now());
    }
    expect(reason).toMatchObject({ code: "temporarily_unavailable" });
  });
});

describe("step 4: stored before it is returned", () => {
  it("bar#RF-3 the old refresh token is kept sealed as previous, for its time", async () => {
    const bench = refreshBench();
    const { refreshToken } = await bench.link();
    bench.time.advance(DUE);
    const stored = await bench.process({ times: { previousSeconds: 120 } }).withRefreshLease(KEY, bench.refresh);
    const row = await bench.records.read(KEY);
    expect(row?.previous?.refreshToken.reveal()).toBe(refreshToken?.reveal());
    expect(row?.previous?.until).toBe(bench.time.now() + 120);
    expect(row?.stored.tokens).toEqual(stored?.tokens);
    expect(JSON.stringify(await bench.attributes())).not.toContain(refreshToken?.reveal());
  });

  it("bar#RF-3 the next refresh drops it", async () => {
    const bench = refreshBench();
    const first = await bench.link();
    const leases = bench.process();
    for (let round = 0; round < 2; round += 1) {
      bench.time.advance(DUE);
      await leases.withRefreshLease(KEY, bench.refresh);
    }
    const { previous } = (await bench.records.read(KEY))!;
    expect(previous?.refreshToken.reveal()).toBe(bench.asked[1]);
    expect(previous?.refreshToken.reveal()).not.toBe(first.refreshToken?.reveal());
  });

  it.each(["none", "same"] as const)(
    "bar#RF-2 %s: the old refresh token goes on, nothing is previous",
    async (model) => {
      const bench = refreshBench({ model });
      const { refreshToken } = await bench.link();
      bench.time.advance(DUE);
      await bench.process().withRefreshLease(KEY, bench.refresh);
      const row = await bench.records.read(KEY);
      expect(row?.stored.tokens.refreshToken?.reveal()).toBe(refreshToken?.reveal());
      expect(row?.previous).toBeUndefined();
    },
  );

  it("rfc6749#6 what the answer leaves out goes on as it was, its lifetime does not", async () => {
    const bench = refreshBench();
    const kept = { scope: "a b", idToken: new Secret("id"), vendorData: new Secret('{"realm":"1"}') };
    await bench.records.replace(KEY, { ...(await bench.link()), ...kept });
    bench.time.advance(DUE);
    const answer = { accessToken: new Secret("at"), tokenType: "Bearer" };
    const stored = await bench.process().withRefreshLease(KEY, async () => answer);
    expect(stored?.tokens).toEqual({ ...kept, ...answer, refreshToken: expect.any(Secret) });
  });

  it("tokens that are too large to be stored are the vendor's fault", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    const refresh: Refresh = async () => ({ accessToken: new Secret("x".repeat(33 * 1024)), tokenType: "Bearer" });
    await expect(bench.process().withRefreshLease(KEY, refresh)).rejects.toMatchObject({
      code: "vendor_response_invalid",
      extras: { reason: "too_large" },
    });
    expect((await bench.records.read(KEY))?.stored.version).toBe(1);
  });
});

describe("two processes with clocks apart", () => {
  it.each([-5, 5])("bar#8.4 %i s: one call", async (clockOffset) => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    const [a, b] = [bench.process(), bench.process({ clockOffset })];
    expect(new Set(await Promise.all([fresh(bench, a), fresh(bench, b), fresh(bench, a)])).size).toBe(1);
    expect(bench.asked).toHaveLength(1);
    expect(bench.names()).toEqual(["refreshed"]);
  });

  it.each([
    [-5, 0],
    [-6, 1],
    [-300, 1],
  ])("bar#8.4 %i s: %i alarms, however often it is seen in a minute", async (clockOffset, alarms) => {
    const bench = refreshBench();
    await bench.link();
    const leases = bench.process({ clockOffset });
    for (let round = 0; round < 3; round += 1) await fresh(bench, leases);
    expect(bench.names()).toEqual(Array.from({ length: alarms }, () => "clock_skew"));
    bench.time.advance(60);
    await bench.link();
    await fresh(bench, leases);
    expect(bench.names()).toHaveLength(2 * alarms);
  });

  it("bar#8.4 a lease that is longer than one can be is an alarm, and heeded", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    await foreignLease(bench, 330);
    await expect(fresh(bench, bench.process())).rejects.toMatchObject({ extras: { reason: "refresh_in_progress" } });
    expect(bench.names()).toEqual(["clock_skew"]);
    expect(bench.asked).toEqual([]);
  });
});

it("leaves attributes of others alone", async () => {
  const bench = refreshBench();
  await bench.link();
  await bench.rows.change(ROW, { set: { theirs: "1" } }, {});
  bench.time.advance(DUE);
  await fresh(bench, bench.process());
  expect((await bench.attributes())["theirs"]).toBe("1");
});
