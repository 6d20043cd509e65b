import { OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, expect, it, vi } from "vitest";
import { createSingleFlight, type SingleFlight, singleFlightId } from "./single-flight.ts";

const NOW = 1_700_000_000;
const SECRET = "the refresh token all of them present";
let now: ReturnType<typeof fixedClock>;
let records: ReturnType<typeof memoryRecordStore>;
let calls: number;
/** Two of them on one store act as two processes towards the record. */
const flight = (): SingleFlight => createSingleFlight({ records, now });
const answer = (n: number): VendorTokens => ({ accessToken: `access-${n}`, tokenType: "Bearer", vendorData: {} });
const call = async (): Promise<VendorTokens> => answer(++calls);

beforeEach(() => {
  now = fixedClock(NOW);
  records = memoryRecordStore({ now });
  calls = 0;
});

it("bar#RF-1 makes one call for 200 equal requests over two processes", async () => {
  const [one, two] = [flight(), flight()];
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? one : two).run("id", SECRET, call)),
  );
  expect(calls).toBe(1);
  expect(new Set(answers.map(({ accessToken }) => accessToken))).toEqual(new Set(["access-1"]));
});

it("replays the answer for 60 s and no longer", async () => {
  await flight().run("id", SECRET, call);
  now.advance(59);
  expect((await flight().run("id", SECRET, call)).accessToken).toBe("access-1");
  now.advance(1);
  expect((await flight().run("id", SECRET, call)).accessToken).toBe("access-2");
});

it("keeps the answer sealed: the record shows nothing of it, and another secret does not open it", async () => {
  await flight().run("id", SECRET, call);
  const record = await records.get({ kind: "refresh", id: "id" });
  expect(JSON.stringify(record)).not.toContain("access-1");
  await expect(flight().run("id", "another token", call)).rejects.toThrow("sealed value");
});

it("replays a failure for as long as its Retry-After, and without one only to callers already waiting", async () => {
  const failing = (error: OAuthError) => async (): Promise<VendorTokens> => {
    calls++;
    throw error;
  };
  const down = new OAuthError("temporarily_unavailable", "down", { retryAfterSeconds: 7 });
  await expect(flight().run("down", SECRET, failing(down))).rejects.toMatchObject({ code: down.code });
  now.advance(6);
  await expect(flight().run("down", SECRET, call)).rejects.toMatchObject({ code: down.code, retryAfterSeconds: 7 });
  now.advance(1);
  expect((await flight().run("down", SECRET, call)).accessToken).toBe("access-2");

  const dead = new OAuthError("invalid_grant", "dead", { vendorError: "invalid_grant" });
  const slowly = Promise.withResolvers<VendorTokens>();
  const first = flight().run("dead", SECRET, () => slowly.promise);
  const waiting = flight().run("dead", SECRET, call);
  await new Promise((resolve) => setTimeout(resolve, 10));
  slowly.reject(dead);
  await expect(first).rejects.toMatchObject({ code: "invalid_grant" });
  await expect(waiting).rejects.toMatchObject({ code: "invalid_grant", extras: { vendorError: "invalid_grant" } });
  expect((await flight().run("dead", SECRET, call)).accessToken).toBe("access-3");
});

it("takes over from a holder that died, once its lease is over", async () => {
  await records.create({
    key: { kind: "refresh", id: "id" },
    stage: "calling",
    data: { v: 1, holder: "dead" },
    expiresAt: NOW + 30,
  });
  const waiting = flight().run("id", SECRET, call);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(calls).toBe(0);
  now.advance(30);
  expect((await waiting).accessToken).toBe("access-1");
});

it("waits 15 s for another caller's call, however slow the store is, and only reads meanwhile", async () => {
  const key = { kind: "refresh", id: "id" };
  await records.create({ key, stage: "calling", data: { v: 1, holder: "other" }, expiresAt: NOW + 30 });
  let elapsedMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => elapsedMs);
  const create = vi.fn<RecordStore["create"]>(records.create);
  const get = vi.fn<RecordStore["get"]>(async (...read) => {
    elapsedMs += 6_000;
    return records.get(...read);
  });
  const waiting = createSingleFlight({ records: { ...records, create, get }, now }).run("id", SECRET, call);
  await expect(waiting).rejects.toMatchObject({ code: "temporarily_unavailable" });
  clock.mockRestore();
  expect([get.mock.calls.length, create.mock.calls.length, calls]).toEqual([3, 1, 0]);
});

it("hands out the answer even when it cannot be kept", async () => {
  const broken = { ...records, advance: async () => Promise.reject(new Error("store is gone")) };
  const answered = await createSingleFlight({ records: broken, now }).run("id", SECRET, call);
  expect(answered.accessToken).toBe("access-1");
});

it("bar#RF-1 a holder that lost its lease hands out its own answer and leaves the other's alone", async () => {
  const [slow, quick] = [Promise.withResolvers<VendorTokens>(), Promise.withResolvers<VendorTokens>()];
  const zombie = flight().run("id", SECRET, () => slow.promise);
  await new Promise((resolve) => setTimeout(resolve, 10));
  now.advance(30);
  const heir = flight().run("id", SECRET, () => quick.promise);
  await new Promise((resolve) => setTimeout(resolve, 10));
  slow.reject(new OAuthError("invalid_grant", "reused"));
  await expect(zombie).rejects.toMatchObject({ code: "invalid_grant" });
  quick.resolve(answer(7));
  expect((await heir).accessToken).toBe("access-7");
  expect((await flight().run("id", SECRET, call)).accessToken).toBe("access-7");
});

/**
 * The lease of one caller expires, another takes it over, and the store does not answer when the
 * first stores its failure.
 *
 * @returns how many calls a third caller made while the second was still at the vendor
 */
async function lateFailure(ofZombie: RecordStore): Promise<number> {
  const [slow, quick] = [Promise.withResolvers<VendorTokens>(), Promise.withResolvers<VendorTokens>()];
  const zombie = createSingleFlight({ records: unanswering(ofZombie), now }).run("id", SECRET, () => slow.promise);
  await new Promise((resolve) => setTimeout(resolve, 10));
  now.advance(30);
  const heir = flight().run("id", SECRET, () => quick.promise);
  await new Promise((resolve) => setTimeout(resolve, 10));
  slow.reject(new OAuthError("temporarily_unavailable", "down"));
  await expect(zombie).rejects.toMatchObject({ code: "temporarily_unavailable" });
  const third = flight().run("id", SECRET, call);
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

it("bar#RF-1 a holder that lost its lease does not end the other's when it cannot keep its failure (#11)", async () => {
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
  const failing = createSingleFlight({ records: unanswering(records), now });
  const down = new OAuthError("temporarily_unavailable", "down");
  await expect(failing.run("id", SECRET, async () => Promise.reject(down))).rejects.toBe(down);
  expect((await flight().run("id", SECRET, call)).accessToken).toBe("access-1");
});

it.each<[string, (store: RecordStore) => Partial<RecordStore>]>([
  ["the answer to taking it is lost", ({ create }) => ({ create: lostOnce(create) })],
  ["the answer to taking it over is lost", ({ advance }) => ({ advance: lostOnce(advance) })],
])("%s: once the store answers, no caller waits for the lease to expire", async (_, fault) => {
  const dead = new OAuthError("invalid_grant", "dead");
  if (fault(records).advance !== undefined) {
    await expect(flight().run("id", SECRET, async () => Promise.reject(dead))).rejects.toBe(dead);
  }
  const unlucky = createSingleFlight({ records: { ...records, ...fault(records) }, now });
  await expect(unlucky.run("id", SECRET, call)).rejects.toThrow("the store did not answer");
  expect((await records.get({ kind: "refresh", id: "id" }))?.stage).toBe("calling");
  expect(calls).toBe(0);
  expect((await flight().run("id", SECRET, call)).accessToken).toBe("access-1");
});

it("a lease that could not be ended at once is ended later", async () => {
  const { advance } = records;
  const failing = vi.fn<RecordStore["advance"]>(advance);
  for (let times = 0; times < 3; times += 1) failing.mockRejectedValueOnce(new Error("the store did not answer"));
  const unlucky = createSingleFlight({ records: { ...records, advance: failing }, now });
  const down = new OAuthError("temporarily_unavailable", "down");
  await expect(unlucky.run("id", SECRET, async () => Promise.reject(down))).rejects.toBe(down);
  expect((await flight().run("id", SECRET, call)).accessToken).toBe("access-1");
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
  await createSingleFlight({ records: { ...records, create }, now }).run("id", SECRET, counting);
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
  await flight().run("id", SECRET, short);
  now.advance(29);
  expect(await flight().run("id", SECRET, short)).toMatchObject({ accessToken: "access-1", expiresInSeconds: 1 });
  now.advance(1);
  expect(await flight().run("id", SECRET, short)).toMatchObject({ accessToken: "access-2", expiresInSeconds: 30 });
});

it("returns an answer too large to be stored, and keeps others from using the spent token meanwhile", async () => {
  const large = async (): Promise<VendorTokens> => ({ ...(await call()), vendorData: { blob: "x".repeat(400_000) } });
  expect((await flight().run("id", SECRET, large)).accessToken).toBe("access-1");
  const next = flight().run("id", SECRET, call);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(calls).toBe(1);
  now.advance(30);
  expect((await next).accessToken).toBe("access-2");
});

it("bar#RF-1 takes over the failure it has read, and no success that came in between", async () => {
  const dead = new OAuthError("invalid_grant", "dead");
  await expect(flight().run("id", SECRET, async () => Promise.reject(dead))).rejects.toMatchObject({ code: dead.code });
  const { get } = records;
  const stale = await get({ kind: "refresh", id: "id" });
  await flight().run("id", SECRET, call);
  let reads = 0;
  const late = createSingleFlight({
    records: { ...records, get: (key, options) => (reads++ === 0 ? Promise.resolve(stale) : get(key, options)) },
    now,
  });
  expect((await late.run("id", SECRET, call)).accessToken).toBe("access-1");
  expect(calls).toBe(1);
});

it("throws the very error of the call it made, so that the log has cause and detail", async () => {
  const error = new OAuthError("vendor_response_invalid", "wrong", { detail: "which member", cause: new Error("why") });
  await expect(flight().run("id", SECRET, async () => Promise.reject(error))).rejects.toBe(error);
});

it("has one id per list of parts, however they are cut", () => {
  expect(singleFlightId(["ab", "c"])).not.toBe(singleFlightId(["a", "bc"]));
  expect(singleFlightId(["ab", "c"])).toBe(singleFlightId(["ab", "c"]));
});
