import { OAuthError } from "@oauth-broker/oauth-core";
import { describe, expect, it, vi } from "vitest";
import { memoryTokenRows } from "../storage/memory/token-rows.ts";
import { cliFixture, type CliFixture, ENVIRONMENT, ISSUER, memoryCheckpoint, VENDOR } from "../testing/cli-fixture.ts";
import { audit } from "./audit.ts";
import { migrate } from "./migrate.ts";

const OPTIONS = {
  issuers: new Map([[VENDOR, ISSUER]]),
  rate: 100,
  rewrap: false,
  dryRun: false,
  skipIssuerCheck: true,
};

async function olderRows(fixture: CliFixture, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await fixture.older(`u${i}`);
}

const plaintextOnly = async ({ deps }: Pick<CliFixture, "deps">): Promise<number | undefined> =>
  (await audit({ ...OPTIONS, byVendor: false, verify: false, list: undefined }, deps)).counts["plaintext_only"];

describe("migrate and outages", () => {
  it("bar#TS-12 waits for the key service and goes on; meanwhile no row changes", async () => {
    const fixture = cliFixture();
    await olderRows(fixture, 20);
    fixture.keys.isDown = true;
    const before = await fixture.rows.scan({ limit: 100 });
    const { sleep } = fixture.deps;
    let waits = 0;
    const deps = {
      ...fixture.deps,
      sleep: async (ms: number): Promise<void> => {
        await sleep(ms);
        if (!fixture.keys.isDown || ms < 500) return;
        expect(await fixture.rows.scan({ limit: 100 })).toEqual(before);
        fixture.keys.isDown = (waits += 1) < 30;
      },
    };
    expect(await migrate(OPTIONS, deps)).toMatchObject({ ending: "done", counts: { sealed: 20 } });
    const waiting = fixture.reports.filter(({ event }) => event === "waiting");
    expect(waiting.slice(0, 3)).toMatchObject([0.5, 1, 2].map((seconds) => ({ reason: "kms_unavailable", seconds })));
    expect(waiting).toHaveLength(30);
  });

  it("waits for the table and goes on", async () => {
    const rows = memoryTokenRows({ table: "tokens" });
    const fixture = cliFixture({ rows });
    await olderRows(fixture, 20);
    const down = new OAuthError("temporarily_unavailable", "The record store does not respond", {
      reason: "store_unavailable",
    });
    for (const name of ["scan", "get", "change"] as const) vi.spyOn(rows, name).mockRejectedValueOnce(down);
    expect(await migrate(OPTIONS, fixture.deps)).toMatchObject({ ending: "done", counts: { sealed: 20 } });
  });

  it("gives up when an outage lasts, and leaves the checkpoint", async () => {
    const checkpoint = memoryCheckpoint();
    const fixture = cliFixture({ checkpoint });
    await olderRows(fixture, 20);
    fixture.keys.isDown = true;
    await expect(migrate(OPTIONS, fixture.deps)).rejects.toMatchObject({ extras: { reason: "kms_unavailable" } });
    expect(checkpoint.kept).toMatchObject({ pass: 1, done: 0 });
    expect(fixture.slept()).toBeGreaterThanOrEqual(30 * 60_000);
  });
});

describe("migrate that is stopped", () => {
  it("bar#TS-15 finishes the rows in hand, and goes on from its checkpoint", async () => {
    const checkpoint = memoryCheckpoint();
    const fixture = cliFixture({ checkpoint });
    await olderRows(fixture, 450);
    const report = fixture.deps.report;
    const stopped = await migrate(OPTIONS, {
      ...fixture.deps,
      report: (one) => {
        report(one);
        if (one.event === "progress" && one.pass === 1 && one.done === 230) fixture.stop.abort("SIGTERM");
      },
    });
    expect(stopped.ending).toBe("interrupted");
    expect(checkpoint.kept).toMatchObject({ pass: 1, done: 200, total: 450 });
    const left = await plaintextOnly({ deps: { ...fixture.deps, signal: new AbortController().signal } });
    expect(left).toBeGreaterThan(200);
    expect(left).toBeLessThanOrEqual(220);

    const scan = vi.spyOn(fixture.rows, "scan");
    const goneOn = await migrate(OPTIONS, { ...fixture.deps, signal: new AbortController().signal });
    expect(goneOn).toMatchObject({ ending: "done", counts: { sealed: 450, rows: 450 } });
    expect(scan.mock.calls[0]?.[0].cursor).toBeDefined();
    expect(checkpoint.kept).toBeUndefined();
    expect(await plaintextOnly({ deps: { ...fixture.deps, signal: new AbortController().signal } })).toBe(0);
  });

  it("opens in no other environment what it has sealed", async () => {
    const fixture = cliFixture();
    await fixture.older("u");
    await migrate(OPTIONS, fixture.deps);
    const { counts } = await audit(
      { ...OPTIONS, byVendor: false, verify: true, list: undefined },
      { ...fixture.deps, environment: `${ENVIRONMENT}-2` },
    );
    expect(counts).toMatchObject({ unreadable: 1, opens: 0 });
  });
});
