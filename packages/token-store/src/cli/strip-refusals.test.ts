import { systemTimer } from "@oauth-broker/oauth-core";
import { describe, expect, it, vi } from "vitest";
import { declareOlderReaders, DECLARED_SECONDS } from "../modes/older-readers.ts";
import {
  cliFixture,
  copies,
  type CliFixture,
  memoryCheckpoint,
  olderRow,
  STRIP as OPTIONS,
  tableText,
} from "../testing/cli-fixture.ts";
import { strip } from "./strip.ts";

async function declared({ rows, clock }: CliFixture): Promise<void> {
  const declaration = declareOlderReaders({ rows, now: clock, timer: systemTimer });
  await declaration.declared;
  declaration.stop();
}

describe("strip refuses", () => {
  it("in mode bridge", async () => {
    const fixture = cliFixture();
    await copies(fixture, 1);
    const result = await strip({ ...OPTIONS, mode: "bridge" }, fixture.deps);
    expect(result).toMatchObject({
      ending: "refused",
      next: [expect.stringContaining("TOKEN_ENCRYPTION_MODE=encrypted")],
    });
    expect(await tableText(fixture)).toContain("plain-at");
  });

  it("bar#TS-10 while older readers are declared, saying until when, dry or not", async () => {
    const fixture = cliFixture();
    await copies(fixture, 1);
    await declared(fixture);
    for (const dryRun of [false, true]) {
      const result = await strip({ ...OPTIONS, dryRun }, fixture.deps);
      expect(result).toMatchObject({ ending: "refused", next: [expect.stringContaining("2023-11-14T22:43:20.000Z")] });
    }
    expect(await tableText(fixture)).toContain("plain-at");
    fixture.clock.advance(DECLARED_SECONDS);
    expect((await strip(OPTIONS, fixture.deps)).ending).toBe("done");
  });

  it("to go on when older readers are declared meanwhile", async () => {
    const checkpoint = memoryCheckpoint();
    const fixture = cliFixture({ checkpoint });
    await copies(fixture, 250);
    const { report } = fixture.deps;
    let declaring = Promise.resolve();
    const result = await strip(OPTIONS, {
      ...fixture.deps,
      report: (one) => {
        report(one);
        if (one.event === "progress" && one.pass === 1 && one.done === 50) declaring = declared(fixture);
      },
    });
    await declaring;
    expect(result).toMatchObject({
      ending: "refused",
      counts: { stripped: 100 },
      next: [expect.stringContaining("declared")],
    });
    expect(checkpoint.kept).toMatchObject({ done: 100 });
  });

  it("bar#TS-10 while a row of any vendor is plaintext only", async () => {
    const fixture = cliFixture();
    await copies(fixture, 1);
    await fixture.older("x", olderRow("x"), "another");
    const result = await strip(OPTIONS, fixture.deps);
    expect(result).toMatchObject({
      ending: "plaintext_left",
      next: ["Plaintext only: 1 row. Run 'token-store migrate' first."],
    });
    expect(await tableText(fixture)).toContain('plain-at"');
  });

  it("to call a run done that met a row which became plaintext only meanwhile", async () => {
    const fixture = cliFixture();
    await copies(fixture, 1);
    const scan = fixture.rows.scan;
    let scans = 0;
    vi.spyOn(fixture.rows, "scan").mockImplementation(async (options) => {
      scans += 1;
      if (scans === 2) await fixture.older("late");
      return scan(options);
    });
    const result = await strip(OPTIONS, fixture.deps);
    expect(result).toMatchObject({ ending: "plaintext_left", counts: { stripped: 1, plaintext_only: 1 } });
  });
});
