import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { describe, expect, it } from "vitest";
import { holderOf, isProcessAlive, type LeaseDeps, takeLease } from "./deploy-lease.ts";

const DEAD = 999;

function deps() {
  const now = fixedClock(1_700_000_000);
  return { now, records: memoryRecordStore({ now }), isAlive: (pid: number) => pid !== DEAD };
}

async function take(pid: number, of: LeaseDeps) {
  const taken = await takeLease("notes", pid, of);
  return "lease" in taken ? taken.lease : undefined;
}

describe("the lease of a deploy", () => {
  it("of ten that ask at once one gets it, and the others learn who has it", async () => {
    const of = deps();
    const taken = await Promise.all(Array.from({ length: 10 }, (_, index) => takeLease("notes", index + 1, of)));
    const winners = taken.flatMap((one, index) => ("lease" in one ? [index + 1] : []));
    expect(winners).toHaveLength(1);
    const holders = taken.flatMap((one) => ("holder" in one ? [one.holder.pid] : []));
    expect(new Set(holders)).toEqual(new Set(winners));
    expect(await holderOf("notes", of)).toEqual({ pid: winners[0], since: 1_700_000_000 });
  });

  it("is free again once it was released, for this connector and no other", async () => {
    const of = deps();
    const first = await take(1, of);
    expect(await take(2, of)).toBeUndefined();
    expect(await takeLease("other", 2, of)).toHaveProperty("lease");
    await first?.release();
    expect(await holderOf("notes", of)).toBeUndefined();
    expect(await take(2, of)).toBeDefined();
  });

  it("of a process that has ended is taken over by exactly one of those that notice", async () => {
    const of = deps();
    await take(DEAD, of);
    const taken = await Promise.all([take(1, of), take(2, of), take(3, of)]);
    expect(taken.filter((one) => one !== undefined)).toHaveLength(1);
  });

  it("that was not renewed is free, and its release does not take it from the next", async () => {
    const of = deps();
    const first = await take(1, of);
    of.now.advance(60);
    expect(await take(2, of)).toBeDefined();
    await first?.release();
    expect(await take(3, of)).toBeUndefined();
    await first?.lost;
  });

  it("knows a living process from one that is gone", () => {
    expect(isProcessAlive(process.pid)).toBe(true);
    expect(isProcessAlive(2 ** 30)).toBe(false);
  });
});
