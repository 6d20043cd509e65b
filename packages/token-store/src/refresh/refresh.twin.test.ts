/**
 * The twins of the tests of the lease and of the fence: with one defence off, the damage is done.
 */
import { temporaryFolder, weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { dieWithAnswer, dueFixture, fresh, KEY, LIFE_SECONDS, refusal } from "../testing/refresh/fixture.ts";

import * as conditions from "../tokens/row-conditions.ts";
import * as leases from "./record-lease.ts";
import * as orphans from "./orphans.ts";
import * as clock from "./times.ts";

describe("with a defence off", () => {
  it("without the lease two processes use one refresh token (twin of bar#RF-1)", async () => {
    weaken(leases, () => ({
      takeLease: async (over) => ({
        over,
        lease: { owner: "none", until: 0, attemptId: "none" },
        afterCrash: false,
      }),
    }));
    const fixture = await dueFixture();
    const calls = [fixture.process(), fixture.process()].map((each) => fresh(fixture, each));
    await Promise.allSettled(calls);
    expect(fixture.asked).toHaveLength(2);
    expect(fixture.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("with a lease that is ignored, too (twin of bar#8.2-2)", async () => {
    weaken(leases, ({ takeLease }) => ({
      isHeld: () => false,
      takeLease: (current, deps) => {
        const { lease: _, ...free } = current;
        return takeLease(free, deps);
      },
    }));
    const fixture = await dueFixture();
    const other = fixture.process();
    fixture.at.after = async () => {
      fixture.at.after = undefined;
      await fresh(fixture, other).catch(() => undefined);
    };
    await refusal(fixture, fixture.process());
    expect(fixture.asked).toHaveLength(2);
    expect(fixture.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("without the journal the first call after a crash ends the grant (twin of bar#8.2-6)", async () => {
    weaken(orphans, () => ({ settleDeadAttempt: async () => undefined }));
    const fixture = await dueFixture();
    const journalFolder = temporaryFolder();
    await dieWithAnswer(fixture, journalFolder);
    fixture.time.advance(60);
    const next = fixture.process({ journalFolder });
    // The call is faster than the listing.
    const call = fresh(fixture, next);
    await expect(call).rejects.toMatchObject({ code: "invalid_grant" });
    expect(fixture.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("without the check of the time a suspended process ends the grant (twin of bar#8.2-3)", async () => {
    weaken(clock, () => ({ isInTime: () => true }));
    const fixture = await dueFixture();
    const other = fixture.process();
    fixture.faults.written = async () => {
      fixture.faults.written = undefined;
      fixture.time.advance(40);
      await fresh(fixture, other);
    };
    await refusal(fixture, fixture.process());
    expect(fixture.vendor.live(KEY.user).refreshTokens).toEqual([]);
  });

  it("without the fence a suspended process puts the row back (twin of bar#8.2-7)", async () => {
    weaken(conditions, () => ({ expectAsRead: () => ({}) }));
    const fixture = await dueFixture({ model: "retry-until-used" });
    const [zombie, other] = [fixture.process(), fixture.process()];
    fixture.at.after = async () => {
      fixture.at.after = undefined;
      fixture.time.advance(40);
      await fresh(fixture, other);
      fixture.time.advance(LIFE_SECONDS);
      await fresh(fixture, other);
    };
    await fresh(fixture, zombie);
    const row = await fixture.records.read(KEY);
    // Two refreshes were committed on top of it, and it says 2 again, with a refresh token the
    // vendor no longer takes.
    expect(row?.stored.version).toBe(2);
    expect(fixture.vendor.live(KEY.user).refreshTokens).not.toContain(row?.stored.tokens.refreshToken?.reveal());
  });

  it("without the condition on the status a revoked record comes back to life (twin of bar#RV-4)", async () => {
    weaken(conditions, ({ expectAsRead }) => ({
      expectAsRead: (attributes, names) =>
        expectAsRead(
          attributes,
          names.filter((name) => name !== "status"),
        ),
    }));
    const fixture = await dueFixture();
    fixture.at.after = async () => {
      await fixture.records.note((await fixture.records.read(KEY))!, { status: "revoked" });
    };
    await fresh(fixture, fixture.process());
    expect((await fixture.records.read(KEY))?.stored.status).toBe("active");
  });
});
