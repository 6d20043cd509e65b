import { type RecordStore, systemTimer } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, expect, it, vi } from "vitest";
import { createLeftBehind, type Lease } from "./refresh-lease.ts";

const NOW = 1_700_000_000;
let now: ReturnType<typeof fixedClock>;
let records: RecordStore;
beforeEach(() => {
  now = fixedClock(NOW);
  records = memoryRecordStore({ now });
});

const leaseOf = async (id: string): Promise<Lease> => {
  const key = { kind: "refresh", id };
  const lease = { key, holder: `holder-${id}`, expiresAt: NOW + 30 };
  await records.create({ key, stage: "calling", data: { v: 1, holder: lease.holder }, expiresAt: lease.expiresAt });
  return lease;
};
const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
const left = async (): Promise<number> =>
  (await Promise.all(ids.map((id) => records.get({ kind: "refresh", id })))).filter((record) => record !== undefined)
    .length;

it("asks a store that is away once in a while, and ends all leases once it answers", async () => {
  const advance = vi.fn<RecordStore["advance"]>(async () => Promise.reject(new Error("the store did not answer")));
  const leftBehind = createLeftBehind({ records: { ...records, advance }, now, timer: systemTimer });
  for (const lease of await Promise.all(ids.map(leaseOf))) leftBehind.add(lease);
  await vi.waitFor(() => expect(advance.mock.calls.length).toBeGreaterThan(1), 5_000);
  expect(advance.mock.calls.length).toBeLessThan(10);
  advance.mockImplementation(records.advance);
  await vi.waitFor(async () => expect(await left()).toBe(0), 5_000);
});

it("asks nothing for leases that have expired, and starts again with the next one", async () => {
  const advance = vi.fn<RecordStore["advance"]>(records.advance);
  const leftBehind = createLeftBehind({ records: { ...records, advance }, now, timer: systemTimer });
  leftBehind.add(await leaseOf("0"));
  now.advance(30);
  const fresh = await leaseOf("1");
  leftBehind.add({ ...fresh, expiresAt: NOW + 60 });
  await vi.waitFor(() => expect(advance).toHaveBeenCalledTimes(1), 5_000);
  expect(advance.mock.calls[0]?.[0]).toEqual(fresh.key);
  leftBehind.add({ ...fresh, expiresAt: NOW + 60 });
  await vi.waitFor(() => expect(advance).toHaveBeenCalledTimes(2), 5_000);
});

it("holds a thousand at most", async () => {
  const advance = vi.fn<RecordStore["advance"]>(records.advance);
  const leftBehind = createLeftBehind({ records: { ...records, advance }, now, timer: systemTimer });
  const lease = await leaseOf("0");
  for (let count = 0; count < 1_500; count += 1) leftBehind.add({ ...lease });
  await vi.waitFor(() => expect(advance).toHaveBeenCalledTimes(1_000), 5_000);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(advance).toHaveBeenCalledTimes(1_000);
});
