import { OAuthError } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import {
  agedFixture,
  crash,
  dueFixture,
  dueUsers,
  fresh,
  isCommit,
  KEY,
  LIFE_SECONDS,
  newest,
  outage,
  REAUTHORIZE,
  refusal,
} from "../testing/refresh/fixture.ts";
import type { RowChange } from "../storage/token-rows.ts";
import type { StoredTokens } from "../tokens/tokens.ts";

describe("a vendor that fails", () => {
  const failures = [
    ["down", outage("vendor_unavailable")],
    ["rejecting our credentials", new OAuthError("vendor_credentials_rejected", "No")],
    ["answering nonsense", new OAuthError("vendor_response_invalid", "Nonsense")],
  ] as const;

  it.each(failures)(
    "bar#RF-9 %s: the record lives, the lease is given back, the next call works",
    async (_what, error) => {
      const fixture = await dueFixture();
      const leases = fixture.process();
      fixture.at.before = () => Promise.reject(error);
      expect(await refusal(fixture, leases)).toMatchObject({ code: error.code });
      const row = await fixture.records.read(KEY);
      expect([row?.stored.status, row?.lease]).toEqual(["active", undefined]);
      expect(fixture.events).toEqual([
        expect.objectContaining({ name: "refresh_failed", code: error.code, spent: false }),
      ]);
      fixture.at.before = undefined;
      expect((await fresh(fixture, leases))?.version).toBe(2);
    },
  );

  it.each([
    [1, "old"],
    [0, "503"],
    [-1, "503"],
  ])("bar#RF-9 with %i s of life left the caller gets: %s", async (left, what) => {
    const fixture = await agedFixture(LIFE_SECONDS - left);
    const old = newest(fixture);
    const down = new OAuthError("temporarily_unavailable", "Down", { retryAfterSeconds: 7 });
    fixture.at.before = () => Promise.reject(down);
    const answer = await refusal(fixture, fixture.process());
    if (what === "old") expect((answer as StoredTokens).tokens.accessToken.reveal()).toBe(old);
    else {
      expect(answer).toMatchObject({ status: 503, retryAfterSeconds: 7, extras: { reason: "vendor_unavailable" } });
    }
  });

  it.each(["temporarily_unavailable", "vendor_response_invalid"] as const)(
    "bar#RF-9 %s after rotation: no dead record, and the next caller need not wait",
    async (code) => {
      const fixture = await dueFixture();
      fixture.at.after = () => Promise.reject(new OAuthError(code, "Lost", { retry: "restart" }));
      const leases = fixture.process();
      const error = await refusal(fixture, leases);
      expect(error).toMatchObject({ code });
      expect((error as OAuthError).extras.retry).toBeUndefined();
      const row = await fixture.records.read(KEY);
      expect([row?.stored.status, row?.lease?.until]).toEqual(["active", fixture.time.now()]);
      fixture.at.after = undefined;
      expect(await refusal(fixture, leases)).toMatchObject(REAUTHORIZE);
      expect(fixture.names()).toEqual(["refresh_failed", "reauthorize: refresh_lost"]);
    },
  );

  it("an error of another kind is passed on unchanged, and counts as possibly sent", async () => {
    const fixture = await dueFixture();
    const bug = new TypeError("a bug");
    fixture.at.before = () => Promise.reject(bug);
    expect(await refusal(fixture, fixture.process())).toBe(bug);
    expect(fixture.events).toEqual([expect.objectContaining({ code: "server_error", spent: true })]);
  });

  it("the queue is reported while many records wait, and when none is left", async () => {
    const { fixture, keys } = await dueUsers(12);
    const leases = fixture.process();
    const callAll = async () => Promise.allSettled(keys.map((key) => leases.withRefreshLease(key, fixture.refresh)));
    const counts = () => fixture.events.flatMap((event) => (event.name === "refresh_backlog" ? [event.count] : []));
    fixture.at.before = () => Promise.reject(new OAuthError("temporarily_unavailable", "Slow down"));
    await callAll();
    expect(counts()).toEqual([10]);
    fixture.time.advance(10);
    await callAll();
    expect(counts()).toEqual([10, 12]);
    fixture.at.before = undefined;
    fixture.time.advance(1);
    await callAll();
    expect(counts()).toEqual([10, 12, 0]);
    expect(fixture.events.filter(({ name }) => name === "refreshed")).toHaveLength(keys.length);
  });

  it("no event holds a token or a user", async () => {
    const fixture = await dueFixture({ model: "grace", graceSeconds: 60 });
    await crash(fixture);
    fixture.at.after = () => Promise.reject(outage());
    const leases = fixture.process();
    await refusal(fixture, leases);
    fixture.at.after = undefined;
    await fresh(fixture, leases);
    expect(fixture.events).toHaveLength(2);
    // An attempt's id is random, and may spell either by chance.
    const written = fixture.events.map((event) => ({ ...event, attemptId: "" }));
    expect(JSON.stringify(written)).not.toMatch(/(at|rt)-|u1/);
  });
});

describe("a store that is away when a lease begins or ends", () => {
  const isLease = ({ set }: RowChange): boolean => Object.hasOwn(set, "lease_owner");
  const isEnd = (change: RowChange): boolean => !isCommit(change) && !isLease(change);
  const down = outage("vendor_unavailable");

  it.each([
    ["the answer to taking it is lost", isLease, "lose", undefined],
    ["it cannot be given back", isEnd, "fail", () => Promise.reject(down)],
  ] as const)("%s: once the store answers, no caller waits for its end", async (_what, at, fault, before) => {
    const fixture = await dueFixture();
    fixture.at.before = before;
    fixture.faults.write = (change) => {
      if (!at(change)) return undefined;
      if (fault === "fail") throw outage();
      return fault;
    };
    const [leases, others] = [fixture.process(), fixture.process()];
    expect(await refusal(fixture, leases)).toMatchObject({ code: "temporarily_unavailable" });
    expect((await fixture.attributes())["lease_until"]).toBe(fixture.time.now() + 30);
    fixture.faults.write = undefined;
    fixture.at.before = undefined;
    const backAt = fixture.time.timer.elapsedMs();
    expect((await fresh(fixture, others))?.version).toBe(2);
    expect(fixture.time.timer.elapsedMs() - backAt).toBeLessThan(1_000);
  });

  it("a lease that another attempt has taken since is left to it", async () => {
    const fixture = await dueFixture();
    fixture.faults.write = (change) => (isLease(change) ? "lose" : undefined);
    await refusal(fixture, fixture.process());
    fixture.faults.write = undefined;
    const { lease: _, ...over } = (await fixture.records.read(KEY))!;
    const theirs = { owner: "theirs", until: fixture.time.now() + 30, attemptId: "theirs" };
    await fixture.records.note(over, { lease: theirs });
    await fixture.time.timer.sleep(2_000);
    expect((await fixture.records.read(KEY))?.lease).toEqual(theirs);
  });
});
