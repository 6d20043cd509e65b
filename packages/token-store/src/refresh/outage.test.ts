import { OAuthError } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import type { RefreshLeases } from "./refresh.ts";
import { type Bench, dueBench, fresh, KEY, LIFE_SECONDS, outage, refreshBench } from "../testing/refresh-bench.ts";
import type { StoredTokens } from "../tokens/tokens.ts";

const REAUTHORIZE = { code: "invalid_grant", extras: { reason: "reauthorization_required" } };

const refusal = (bench: Bench, leases: RefreshLeases): Promise<unknown> =>
  fresh(bench, leases).then(
    (stored) => stored,
    (error: unknown) => error,
  );
/** The vendor has rotated, its answer is lost, and so is the process: an expired lease is all that is left. */
async function crash(bench: Bench): Promise<void> {
  const over = (await bench.records.read(KEY))!;
  const until = bench.time.now() + 30;
  await bench.records.note(over, { lease: { owner: "dead", until, attemptId: "dead" } });
  bench.vendor.refresh(over.stored.tokens.refreshToken!.reveal());
  bench.time.advance(30);
}

describe("a vendor that fails", () => {
  const failures = [
    ["down", outage("vendor_unavailable")],
    ["rejecting our credentials", new OAuthError("vendor_credentials_rejected", "No")],
    ["answering nonsense", new OAuthError("vendor_response_invalid", "Nonsense")],
  ] as const;

  it.each(failures)(
    "bar#RF-9 %s: the record lives, the lease is given back, the next call works",
    async (_what, error) => {
      const bench = await dueBench();
      const leases = bench.process();
      bench.at.before = () => Promise.reject(error);
      expect(await refusal(bench, leases)).toMatchObject({ code: error.code });
      const row = await bench.records.read(KEY);
      expect([row?.stored.status, row?.lease]).toEqual(["active", undefined]);
      expect(bench.events).toEqual([
        expect.objectContaining({ name: "refresh_failed", code: error.code, spent: false }),
      ]);
      bench.at.before = undefined;
      expect((await fresh(bench, leases))?.version).toBe(2);
    },
  );

  it.each([
    [1, "old"],
    [0, "503"],
    [-1, "503"],
  ])("bar#RF-9 with %i s of life left the caller gets: %s", async (left, what) => {
    const bench = refreshBench();
    const old = (await bench.link()).accessToken.reveal();
    bench.time.advance(LIFE_SECONDS - left);
    const down = new OAuthError("temporarily_unavailable", "Down", { retryAfterSeconds: 7 });
    bench.at.before = () => Promise.reject(down);
    const answer = await refusal(bench, bench.process());
    if (what === "old") expect((answer as StoredTokens).tokens.accessToken.reveal()).toBe(old);
    else {
      expect(answer).toMatchObject({ status: 503, retryAfterSeconds: 7, extras: { reason: "vendor_unavailable" } });
    }
  });

  it.each(["temporarily_unavailable", "vendor_response_invalid"] as const)(
    "bar#RF-9 %s after the vendor has rotated: no dead record, but the next one knows and need not wait",
    async (code) => {
      const bench = await dueBench();
      bench.at.after = () => Promise.reject(new OAuthError(code, "Lost", { retry: "restart" }));
      const leases = bench.process();
      const error = await refusal(bench, leases);
      expect(error).toMatchObject({ code });
      expect((error as OAuthError).extras.retry).toBeUndefined();
      const row = await bench.records.read(KEY);
      expect([row?.stored.status, row?.lease?.until]).toEqual(["active", bench.time.now()]);
      bench.at.after = undefined;
      expect(await refusal(bench, leases)).toMatchObject(REAUTHORIZE);
      expect(bench.names()).toEqual(["refresh_failed", "reauthorize: refresh_lost"]);
    },
  );

  it("an error that is no answer of the vendor comes back as it is, and may have been anything", async () => {
    const bench = await dueBench();
    const bug = new TypeError("a bug");
    bench.at.before = () => Promise.reject(bug);
    expect(await refusal(bench, bench.process())).toBe(bug);
    expect(bench.events).toEqual([expect.objectContaining({ code: "server_error", spent: true })]);
  });

  it("no event holds a token or a user", async () => {
    const bench = await dueBench({ model: "grace", graceSeconds: 60 });
    await crash(bench);
    bench.at.after = () => Promise.reject(outage());
    const leases = bench.process();
    await refusal(bench, leases);
    bench.at.after = undefined;
    await fresh(bench, leases);
    expect(bench.events).toHaveLength(2);
    expect(JSON.stringify(bench.events)).not.toMatch(/(at|rt)-|u1/);
  });
});
