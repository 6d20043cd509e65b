/**
 * The twins of the tests of the lease and of the fence: one defence taken out each, and the harm is done.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelOptions } from "@oauth-broker/simulators/refresh-models";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Bench, KEY, LIFE_SECONDS, storeDown } from "../testing/refresh-bench.ts";

beforeEach(() => {
  vi.resetModules();
});

async function dueBench(options: Partial<ModelOptions> = {}): Promise<Bench> {
  return (await import("../testing/refresh-bench.ts")).dueBench(options);
}

describe("with a defence off", () => {
  it("without the lease two processes use one refresh token, and the vendor ends the grant (twin of bar#RF-1)", async () => {
    vi.doMock("./lease.ts", async (original) => ({
      ...(await original<object>()),
      takeLease: async (current: object) => ({
        over: current,
        lease: { owner: "nobody", until: 0, attemptId: "nobody" },
        afterCrash: false,
      }),
    }));
    const bench = await dueBench();
    vi.doUnmock("./lease.ts");
    const calls = [bench.process(), bench.process()].map((leases) => leases.withRefreshLease(KEY, bench.refresh));
    await Promise.allSettled(calls);
    expect(bench.asked).toHaveLength(2);
    expect(bench.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("with a lease that nobody heeds, too (twin of bar#8.2-2)", async () => {
    vi.doMock("./lease.ts", async (original) => {
      const module = await original<{ readonly takeLease: (current: object, deps: object) => unknown }>();
      return {
        ...module,
        isHeld: () => false,
        takeLease: (current: object, deps: object) => {
          const { lease: _, ...free } = current as { readonly lease?: object };
          return module.takeLease(free, deps);
        },
      };
    });
    const bench = await dueBench();
    vi.doUnmock("./lease.ts");
    const other = bench.process();
    bench.at.after = async () => {
      bench.at.after = undefined;
      await other.withRefreshLease(KEY, bench.refresh).catch(() => undefined);
    };
    await bench
      .process()
      .withRefreshLease(KEY, bench.refresh)
      .catch(() => undefined);
    expect(bench.asked).toHaveLength(2);
    expect(bench.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("without the look into the journal the first call after a crash ends the grant (twin of bar#8.2-6)", async () => {
    vi.doMock("./orphans.ts", async (original) => ({
      ...(await original<object>()),
      settleDeadAttempt: async () => undefined,
    }));
    const bench = await dueBench();
    vi.doUnmock("./orphans.ts");
    const journalFolder = mkdtempSync(join(tmpdir(), "journal-"));
    const up = storeDown(bench);
    const dying = bench.process({ journalFolder, times: { commitMs: 0 } });
    await expect(dying.withRefreshLease(KEY, bench.refresh)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    await dying.drain(0);
    up();
    bench.time.advance(60);
    const next = bench.process({ journalFolder });
    // The call is faster than the listing.
    const call = next.withRefreshLease(KEY, bench.refresh);
    await expect(call).rejects.toMatchObject({ code: "invalid_grant" });
    expect(bench.vendor.live(KEY.user).refreshTokens).toEqual([]);
    rmSync(journalFolder, { recursive: true });
  });

  it("without the look at the time a process that stood still ends the grant (twin of bar#8.2-3)", async () => {
    vi.doMock("./times.ts", async (original) => ({ ...(await original<object>()), isInTime: () => true }));
    const bench = await dueBench();
    vi.doUnmock("./times.ts");
    const other = bench.process();
    bench.faults.written = async () => {
      bench.faults.written = undefined;
      bench.time.advance(40);
      await other.withRefreshLease(KEY, bench.refresh);
    };
    await bench
      .process()
      .withRefreshLease(KEY, bench.refresh)
      .catch(() => undefined);
    expect(bench.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("without the fence a process that stood still puts the row back (twin of bar#8.2-7)", async () => {
    vi.doMock("../tokens/row-conditions.ts", async (original) => ({
      ...(await original<object>()),
      expectAsRead: () => ({}),
    }));
    const bench = await dueBench({ model: "retry-until-used" });
    vi.doUnmock("../tokens/row-conditions.ts");
    const [zombie, other] = [bench.process(), bench.process()];
    bench.at.after = async () => {
      bench.at.after = undefined;
      bench.time.advance(40);
      await other.withRefreshLease(KEY, bench.refresh);
      bench.time.advance(LIFE_SECONDS);
      await other.withRefreshLease(KEY, bench.refresh);
    };
    await zombie.withRefreshLease(KEY, bench.refresh);
    const row = await bench.records.read(KEY);
    // Two refreshes were committed on top of it, and it says 2 again, with a refresh token the vendor no longer takes.
    expect(row?.stored.version).toBe(2);
    expect(bench.vendor.live(KEY.user).refreshTokens).not.toContain(row?.stored.tokens.refreshToken?.reveal());
  });

  it("without the condition on the status a revoked record comes back to life (twin of bar#RV-4)", async () => {
    vi.doMock("../tokens/row-conditions.ts", async (original) => {
      const module = await original<{
        readonly expectAsRead: (attributes: object, names: readonly string[]) => object;
      }>();
      return {
        ...module,
        expectAsRead: (attributes: object, names: readonly string[]) =>
          module.expectAsRead(
            attributes,
            names.filter((name) => name !== "status"),
          ),
      };
    });
    const bench = await dueBench();
    vi.doUnmock("../tokens/row-conditions.ts");
    bench.at.after = async () => {
      await bench.records.note((await bench.records.read(KEY))!, { status: "revoked" });
    };
    await bench.process().withRefreshLease(KEY, bench.refresh);
    expect((await bench.records.read(KEY))?.stored.status).toBe("active");
  });
});
