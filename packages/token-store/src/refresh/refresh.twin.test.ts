/**
 * The twins of the tests of the lease and of the fence: with one defence off, the damage is done.
 */
import type { ModelOptions } from "@oauth-broker/simulators/refresh-models";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Fixture, KEY, LIFE_SECONDS, storeDown } from "../testing/refresh/fixture.ts";

beforeEach(() => {
  vi.resetModules();
});

async function dueFixture(options: Partial<ModelOptions> = {}): Promise<Fixture> {
  return (await import("../testing/refresh/fixture.ts")).dueFixture(options);
}

describe("with a defence off", () => {
  it("without the lease two processes use one refresh token (twin of bar#RF-1)", async () => {
    vi.doMock("./lease.ts", async (original) => ({
      ...(await original<object>()),
      takeLease: async (current: object) => ({
        over: current,
        lease: { owner: "none", until: 0, attemptId: "none" },
        afterCrash: false,
      }),
    }));
    const fixture = await dueFixture();
    vi.doUnmock("./lease.ts");
    const calls = [fixture.process(), fixture.process()].map((leases) => leases.withRefreshLease(KEY, fixture.refresh));
    await Promise.allSettled(calls);
    expect(fixture.asked).toHaveLength(2);
    expect(fixture.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("with a lease that is ignored, too (twin of bar#8.2-2)", async () => {
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
    const fixture = await dueFixture();
    vi.doUnmock("./lease.ts");
    const other = fixture.process();
    fixture.at.after = async () => {
      fixture.at.after = undefined;
      await other.withRefreshLease(KEY, fixture.refresh).catch(() => undefined);
    };
    await fixture
      .process()
      .withRefreshLease(KEY, fixture.refresh)
      .catch(() => undefined);
    expect(fixture.asked).toHaveLength(2);
    expect(fixture.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("without the journal the first call after a crash ends the grant (twin of bar#8.2-6)", async () => {
    vi.doMock("./orphans.ts", async (original) => ({
      ...(await original<object>()),
      settleDeadAttempt: async () => undefined,
    }));
    const fixture = await dueFixture();
    vi.doUnmock("./orphans.ts");
    const journalFolder = temporaryFolder();
    const up = storeDown(fixture);
    const dying = fixture.process({ journalFolder, times: { commitMs: 0 } });
    await expect(dying.withRefreshLease(KEY, fixture.refresh)).rejects.toMatchObject({
      code: "temporarily_unavailable",
    });
    await dying.drain(0);
    up();
    fixture.time.advance(60);
    const next = fixture.process({ journalFolder });
    // The call is faster than the listing.
    const call = next.withRefreshLease(KEY, fixture.refresh);
    await expect(call).rejects.toMatchObject({ code: "invalid_grant" });
    expect(fixture.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("without the check of the time a suspended process ends the grant (twin of bar#8.2-3)", async () => {
    vi.doMock("./times.ts", async (original) => ({ ...(await original<object>()), isInTime: () => true }));
    const fixture = await dueFixture();
    vi.doUnmock("./times.ts");
    const other = fixture.process();
    fixture.faults.written = async () => {
      fixture.faults.written = undefined;
      fixture.time.advance(40);
      await other.withRefreshLease(KEY, fixture.refresh);
    };
    await fixture
      .process()
      .withRefreshLease(KEY, fixture.refresh)
      .catch(() => undefined);
    expect(fixture.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("without the fence a suspended process puts the row back (twin of bar#8.2-7)", async () => {
    vi.doMock("../tokens/row-conditions.ts", async (original) => ({
      ...(await original<object>()),
      expectAsRead: () => ({}),
    }));
    const fixture = await dueFixture({ model: "retry-until-used" });
    vi.doUnmock("../tokens/row-conditions.ts");
    const [zombie, other] = [fixture.process(), fixture.process()];
    fixture.at.after = async () => {
      fixture.at.after = undefined;
      fixture.time.advance(40);
      await other.withRefreshLease(KEY, fixture.refresh);
      fixture.time.advance(LIFE_SECONDS);
      await other.withRefreshLease(KEY, fixture.refresh);
    };
    await zombie.withRefreshLease(KEY, fixture.refresh);
    const row = await fixture.records.read(KEY);
    // Two refreshes were committed on top of it, and it says 2 again, with a refresh token the
    // vendor no longer takes.
    expect(row?.stored.version).toBe(2);
    expect(fixture.vendor.live(KEY.user).refreshTokens).not.toContain(row?.stored.tokens.refreshToken?.reveal());
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
    const fixture = await dueFixture();
    vi.doUnmock("../tokens/row-conditions.ts");
    fixture.at.after = async () => {
      await fixture.records.note((await fixture.records.read(KEY))!, { status: "revoked" });
    };
    await fixture.process().withRefreshLease(KEY, fixture.refresh);
    expect((await fixture.records.read(KEY))?.stored.status).toBe("active");
  });
});
