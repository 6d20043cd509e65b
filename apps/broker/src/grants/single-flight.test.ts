import { OAuthError, type RecordStore, systemTimer } from "@oauth-broker/oauth-core";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createSingleFlight, type EqualRefreshes, type SingleFlight, singleFlightId } from "./single-flight.ts";

const NOW = 1_700_000_000;
const SECRET = "the refresh token all of them present";
let now: ReturnType<typeof fixedClock>;
let records: ReturnType<typeof memoryRecordStore>;
let calls: number;
let discarded: (string | undefined)[];
/** Two of them on one store act as two processes towards the record. */
const flight = (store: Partial<RecordStore> = {}): SingleFlight =>
  createSingleFlight({ records: { ...records, ...store }, now, timer: systemTimer });
const answer = (n: number): VendorTokens => ({ accessToken: `access-${n}`, tokenType: "Bearer", vendorData: {} });
const call = async (): Promise<VendorTokens> => answer(++calls);
/** What equal callers present. */
const refreshOf = (id = "id", more: Partial<EqualRefreshes> = {}): EqualRefreshes => ({
  id,
  clientId: "platform",
  refreshToken: SECRET,
  clientSecret: undefined,
  hasScope: id === "id of a scope",
  revocationId: (token) => (token === SECRET ? "id" : `id of ${token}`),
  discard: async ({ refreshToken }) => void discarded.push(refreshToken),
  ...more,
});

beforeEach(() => {
  now = fixedClock(NOW);
  records = memoryRecordStore({ now });
  calls = 0;
  discarded = [];
});

it("bar#RF-1 makes one call for 200 equal requests over two processes", async () => {
  const [one, two] = [flight(), flight()];
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? one : two).run(refreshOf(), call)),
  );
  expect(calls).toBe(1);
  expect(new Set(answers.map(({ accessToken }) => accessToken))).toEqual(new Set(["access-1"]));
});

it("replays the answer for 60 s and no longer", async () => {
  await flight().run(refreshOf(), call);
  now.advance(59);
  expect((await flight().run(refreshOf(), call)).accessToken).toBe("access-1");
  now.advance(1);
  expect((await flight().run(refreshOf(), call)).accessToken).toBe("access-2");
});

it("keeps the answer sealed: neither the record nor another token shows it", async () => {
  await flight().run(refreshOf(), call);
  const record = await records.get({ kind: "refresh", id: "id" });
  expect(JSON.stringify(record)).not.toContain("access-1");
  await expect(flight().run(refreshOf("id", { refreshToken: "another" }), call)).rejects.toMatchObject({
    code: "temporarily_unavailable",
  });
  expect(calls).toBe(1);
});

describe("callers with different secrets of their own at the vendor", () => {
  const [right, other] = ["right", "another", undefined].map((clientSecret) => refreshOf("id", { clientSecret }));
  const without = refreshOf("id");
  const refused = (seconds: number) => ({
    code: "temporarily_unavailable",
    retryAfterSeconds: seconds,
    extras: { reason: "just_refreshed" },
  });

  it.each([
    ["another secret", other!],
    ["no secret", without],
  ])("bar#RF-1 a caller with %s gets nothing of an answer, and the token is not sent again", async (_, late) => {
    const one = flight();
    await one.run(right!, call);
    now.advance(20);
    await expect(one.run(late, call)).rejects.toMatchObject(refused(40));
    await expect(flight().run(late, call)).rejects.toMatchObject(refused(40));
    expect((await flight().run(right!, call)).accessToken).toBe("access-1");
    expect(calls).toBe(1);
    now.advance(40);
    expect((await flight().run(late, call)).accessToken).toBe("access-2");
  });

  it("bar#RF-1 at once, in one process: the second waits for the first one's call and makes none", async () => {
    const slowly = Promise.withResolvers<VendorTokens>();
    const one = flight();
    const first = one.run(right!, () => slowly.promise);
    const second = one.run(other!, call);
    const third = one.run(right!, call);
    slowly.resolve(answer(7));
    await expect(second).rejects.toMatchObject(refused(60));
    expect([(await first).accessToken, (await third).accessToken, calls]).toEqual(["access-7", "access-7", 0]);
  });

  it("a failure of one is not the other's: the vendor is asked again", async () => {
    const wrong = new OAuthError("vendor_credentials_rejected", "wrong", { retryAfterSeconds: 30 });
    await expect(flight().run(other!, async () => Promise.reject(wrong))).rejects.toBe(wrong);
    expect((await flight().run(right!, call)).accessToken).toBe("access-1");
  });

  it("a record of an earlier release, which was sealed without the secret, counts as answered", async () => {
    await flight().run(without, call);
    const key = { kind: "refresh", id: "id" };
    const { data, ...record } = (await records.get(key))!;
    const { ok: _absent, ...earlier } = data;
    await records.delete(key);
    await records.create({ ...record, data: earlier });
    expect((await flight().run(without, call)).accessToken).toBe("access-1");
    await expect(flight().run(right!, call)).rejects.toMatchObject(refused(60));
  });
});

it("replays a failure for its Retry-After, and without one only to waiting callers", async () => {
  const failing = (error: OAuthError) => async (): Promise<VendorTokens> => {
    calls++;
    throw error;
  };
  const down = new OAuthError("temporarily_unavailable", "down", { retryAfterSeconds: 7 });
  await expect(flight().run(refreshOf("down"), failing(down))).rejects.toMatchObject({ code: down.code });
  now.advance(6);
  await expect(flight().run(refreshOf("down"), call)).rejects.toMatchObject({ code: down.code, retryAfterSeconds: 7 });
  now.advance(1);
  expect((await flight().run(refreshOf("down"), call)).accessToken).toBe("access-2");

  const dead = new OAuthError("invalid_grant", "dead", { vendorError: "invalid_grant" });
  const slowly = Promise.withResolvers<VendorTokens>();
  const first = flight().run(refreshOf("dead"), () => slowly.promise);
  const waiting = flight().run(refreshOf("dead"), call);
  await new Promise((resolve) => setTimeout(resolve, 10));
  slowly.reject(dead);
  await expect(first).rejects.toMatchObject({ code: "invalid_grant" });
  await expect(waiting).rejects.toMatchObject({ code: "invalid_grant", extras: { vendorError: "invalid_grant" } });
  expect((await flight().run(refreshOf("dead"), call)).accessToken).toBe("access-3");
});

it("takes over from a holder that died, once its lease is over", async () => {
  await records.create({
    key: { kind: "refresh", id: "id" },
    stage: "calling",
    data: { v: 1, holder: "dead" },
    expiresAt: NOW + 30,
  });
  const waiting = flight().run(refreshOf(), call);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(calls).toBe(0);
  now.advance(30);
  expect((await waiting).accessToken).toBe("access-1");
});

it("waits 15 s for another caller's call, however slow the store is, and only reads meanwhile", async () => {
  const key = { kind: "refresh", id: "id" };
  await records.create({ key, stage: "calling", data: { v: 1, holder: "other" }, expiresAt: NOW + 30 });
  let elapsedMs = 0;
  const timer = { ...systemTimer, elapsedMs: () => elapsedMs };
  const create = vi.fn<RecordStore["create"]>(records.create);
  const get = vi.fn<RecordStore["get"]>(async (...read) => {
    elapsedMs += 6_000;
    return records.get(...read);
  });
  const waiting = createSingleFlight({ records: { ...records, create, get }, now, timer }).run(refreshOf(), call);
  await expect(waiting).rejects.toMatchObject({ code: "temporarily_unavailable" });
  expect([get.mock.calls.length, create.mock.calls.length, calls]).toEqual([3, 1, 0]);
});

it("hands out the answer even when it cannot be kept", async () => {
  const broken = flight({ advance: async () => Promise.reject(new Error("store is gone")) });
  expect((await broken.run(refreshOf(), call)).accessToken).toBe("access-1");
});

it("bar#RF-1 a holder that lost its lease returns its own answer and keeps the other's", async () => {
  const [slow, quick] = [Promise.withResolvers<VendorTokens>(), Promise.withResolvers<VendorTokens>()];
  const zombie = flight().run(refreshOf(), () => slow.promise);
  await new Promise((resolve) => setTimeout(resolve, 10));
  now.advance(30);
  const heir = flight().run(refreshOf(), () => quick.promise);
  await new Promise((resolve) => setTimeout(resolve, 10));
  slow.reject(new OAuthError("invalid_grant", "reused"));
  await expect(zombie).rejects.toMatchObject({ code: "invalid_grant" });
  quick.resolve(answer(7));
  expect((await heir).accessToken).toBe("access-7");
  expect((await flight().run(refreshOf(), call)).accessToken).toBe("access-7");
});

describe("bar#RV-4 a token that is revoked", () => {
  const gone = { code: "invalid_grant" };
  const rotated = { ...answer(7), refreshToken: "next" };
  const revoke = (refreshToken = SECRET) => flight().revoke(refreshOf("id", { refreshToken }));

  it.each(["id", "id of a scope"])("during a refresh (%s): its answer is revoked, and no caller's", async (id) => {
    const slow = Promise.withResolvers<VendorTokens>();
    const both = [flight(), flight()].map((one) => one.run(refreshOf(id), () => slow.promise));
    await new Promise((resolve) => setTimeout(resolve, 10));
    await revoke();
    slow.resolve(rotated);
    expect(await Promise.allSettled(both)).toMatchObject([{ reason: gone }, { reason: gone }]);
    expect(discarded).toEqual(["next"]);
    await expect(flight().run(refreshOf(id), call)).rejects.toMatchObject(gone);
    expect(calls).toBe(0);
  });

  it("ends each that was spent for the next one in the last minute", async () => {
    const next = refreshOf("id of next", { refreshToken: "next" });
    await flight().run(refreshOf(), async () => rotated);
    await flight().run(next, async () => ({ ...answer(8), refreshToken: "last" }));
    await revoke();
    expect(discarded).toEqual(["next", "last"]);
    for (const one of [refreshOf(), next, refreshOf("id of last", { refreshToken: "last" })]) {
      await expect(flight().run(one, call)).rejects.toMatchObject(gone);
    }
  });

  it("by its access token, where the refresh token stays: the vendor is asked again", async () => {
    await revoke((await flight().run(refreshOf(), call)).accessToken);
    for (const one of [flight(), flight()]) expect((await one.run(refreshOf(), call)).accessToken).toBe("access-2");
  });

  it("is not said to be while a row that is not ours stands in its place", async () => {
    const { revoke: write } = flight({ create: async () => "exists", get: async () => undefined });
    await expect(write(refreshOf())).rejects.toMatchObject({ code: "temporarily_unavailable" });
  });
});

/**
 * The lease of one caller expires, another takes it over, and the store does not answer when the
 * first stores its failure.
 *
 * @returns how many calls a third caller made while the second was still at the vendor
 */
async function lateFailure(ofZombie: RecordStore): Promise<number> {
  const [slow, quick] = [Promise.withResolvers<VendorTokens>(), Promise.withResolvers<VendorTokens>()];
  const zombie = flight(unanswering(ofZombie)).run(refreshOf(), () => slow.promise);
  await new Promise((resolve) => setTimeout(resolve, 10));
  now.advance(30);
  const heir = flight().run(refreshOf(), () => quick.promise);
  await new Promise((resolve) => setTimeout(resolve, 10));
  slow.reject(new OAuthError("temporarily_unavailable", "down"));
  await expect(zombie).rejects.toMatchObject({ code: "temporarily_unavailable" });
  const third = flight().run(refreshOf(), call);
  await new Promise((resolve) => setTimeout(resolve, 120));
  const meanwhile = calls;
  quick.resolve(answer(7));
  await Promise.all([heir, third]);
  return meanwhile;
}

/** The store does not answer the first conditional write. */
function unanswering(store: RecordStore): RecordStore {
  const advance = vi.fn<RecordStore["advance"]>(store.advance);
  return { ...store, advance: advance.mockRejectedValueOnce(new Error("the store did not answer")) };
}

it("bar#RF-1 a holder that lost its lease keeps the other's if its failure is lost (#11)", async () => {
  expect(await lateFailure(records)).toBe(0);
});

it("twin: a holder that ends any lease lets a third caller send the token a second time", async () => {
  const advance: RecordStore["advance"] = async (key, from, patch) =>
    patch.stage === "released"
      ? records.delete(key).then(() => ({ outcome: "absent" }))
      : records.advance(key, from, patch);
  expect(await lateFailure({ ...records, advance })).toBe(1);
});

it("when a holder cannot store its failure, the next caller tries at once", async () => {
  const failing = flight(unanswering(records));
  const down = new OAuthError("temporarily_unavailable", "down");
  await expect(failing.run(refreshOf(), async () => Promise.reject(down))).rejects.toBe(down);
  expect((await flight().run(refreshOf(), call)).accessToken).toBe("access-1");
});

it.each<[string, (store: RecordStore) => Partial<RecordStore>]>([
  ["the answer to taking it is lost", ({ create }) => ({ create: lostOnce(create) })],
  ["the answer to taking it over is lost", ({ advance }) => ({ advance: lostOnce(advance) })],
])("%s: once the store answers, no caller waits for the lease to expire", async (_, fault) => {
  const dead = new OAuthError("invalid_grant", "dead");
  if (fault(records).advance !== undefined) {
    await expect(flight().run(refreshOf(), async () => Promise.reject(dead))).rejects.toBe(dead);
  }
  const unlucky = flight(fault(records));
  await expect(unlucky.run(refreshOf(), call)).rejects.toThrow("the store did not answer");
  expect((await records.get({ kind: "refresh", id: "id" }))?.stage).toBe("calling");
  expect(calls).toBe(0);
  expect((await flight().run(refreshOf(), call)).accessToken).toBe("access-1");
});

it("a lease that could not be ended at once is ended later", async () => {
  const { advance } = records;
  const failing = vi.fn<RecordStore["advance"]>(advance);
  for (let times = 0; times < 3; times += 1) failing.mockRejectedValueOnce(new Error("the store did not answer"));
  const unlucky = flight({ advance: failing });
  const down = new OAuthError("temporarily_unavailable", "down");
  await expect(unlucky.run(refreshOf(), async () => Promise.reject(down))).rejects.toBe(down);
  expect((await flight().run(refreshOf(), call)).accessToken).toBe("access-1");
  expect(failing).toHaveBeenCalledTimes(4);
});

it.each([
  [5, 1],
  [6, 2],
])("bar#8.2-3 a lease that took %i s to take: the vendor is called under lease %i", async (seconds, nth) => {
  const create = vi.fn<RecordStore["create"]>(records.create);
  create.mockImplementationOnce(async (record) => {
    const outcome = await records.create(record);
    now.advance(seconds);
    return outcome;
  });
  let leases = 0;
  const counting = async (): Promise<VendorTokens> => {
    leases = create.mock.calls.length;
    return call();
  };
  await flight({ create }).run(refreshOf(), counting);
  expect([calls, leases]).toEqual([1, nth]);
});

/** The write is made, and its answer is lost. */
function lostOnce<Args extends readonly unknown[], T>(
  write: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  let isLost = false;
  return async (...args) => {
    const result = await write(...args);
    if (isLost) return result;
    isLost = true;
    throw new Error("the store did not answer");
  };
}

it("replays a token with the lifetime that is left, and not after its death", async () => {
  const short = async (): Promise<VendorTokens> => ({ ...(await call()), expiresInSeconds: 30 });
  await flight().run(refreshOf(), short);
  now.advance(29);
  expect(await flight().run(refreshOf(), short)).toMatchObject({ accessToken: "access-1", expiresInSeconds: 1 });
  now.advance(1);
  expect(await flight().run(refreshOf(), short)).toMatchObject({ accessToken: "access-2", expiresInSeconds: 30 });
});

describe("answers too long to be kept", () => {
  /** An answer of 250 KB, as a vendor may send it. */
  const long = async (): Promise<VendorTokens> => ({ ...(await call()), vendorData: { blob: "x".repeat(250_000) } });
  const kept = async (id: string) => JSON.stringify(await records.get({ kind: "refresh", id }))?.length ?? 0;
  const ids = Array.from({ length: 50 }, (_, index) => `${index}`);

  it("go to the caller and all who share its call, and take no place in the store", async () => {
    const one = flight();
    const answers = await Promise.all([one.run(refreshOf(), long), one.run(refreshOf(), long)]);
    expect(answers.map(({ accessToken }) => accessToken)).toEqual(["access-1", "access-1"]);
    for (const id of ids) await one.run(refreshOf(id), long);
    const bytes = await Promise.all(ids.map(kept));
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(50 * 1_000);
  });

  it("bar#RF-1 callers in other processes are refused, and the token is not sent again", async () => {
    const slowly = Promise.withResolvers<VendorTokens>();
    const first = flight().run(refreshOf(), () => slowly.promise);
    const waiting = flight().run(refreshOf(), call);
    slowly.resolve({ ...answer(7), vendorData: { blob: "x".repeat(8_192) } });
    expect((await first).accessToken).toBe("access-7");
    await expect(waiting).rejects.toMatchObject({ code: "temporarily_unavailable", retryAfterSeconds: 60 });
    now.advance(59);
    await expect(flight().run(refreshOf(), call)).rejects.toMatchObject({ retryAfterSeconds: 1 });
    expect(calls).toBe(0);
    now.advance(1);
    expect((await flight().run(refreshOf(), call)).accessToken).toBe("access-1");
  });

  it("a failure that is too long is not kept, and the next caller tries", async () => {
    const loud = new OAuthError("invalid_grant", "dead", { vendorError: "x".repeat(9_000), retryAfterSeconds: 30 });
    await expect(flight().run(refreshOf(), async () => Promise.reject(loud))).rejects.toBe(loud);
    expect((await flight().run(refreshOf(), call)).accessToken).toBe("access-1");
  });
});

it("bar#RF-1 takes over the failure it has read, and no success that came in between", async () => {
  const dead = new OAuthError("invalid_grant", "dead");
  await expect(flight().run(refreshOf(), async () => Promise.reject(dead))).rejects.toMatchObject({ code: dead.code });
  const { get } = records;
  const stale = await get({ kind: "refresh", id: "id" });
  await flight().run(refreshOf(), call);
  let reads = 0;
  const late = flight({ get: (key, options) => (reads++ === 0 ? Promise.resolve(stale) : get(key, options)) });
  expect((await late.run(refreshOf(), call)).accessToken).toBe("access-1");
  expect(calls).toBe(1);
});

it("throws the very error of the call it made, so that the log has cause and detail", async () => {
  const error = new OAuthError("vendor_response_invalid", "wrong", { detail: "which member", cause: new Error("why") });
  await expect(flight().run(refreshOf(), async () => Promise.reject(error))).rejects.toBe(error);
});

it("has one id per list of parts, however they are cut", () => {
  expect(singleFlightId(["ab", "c"])).not.toBe(singleFlightId(["a", "bc"]));
  expect(singleFlightId(["ab", "c"])).toBe(singleFlightId(["ab", "c"]));
});
