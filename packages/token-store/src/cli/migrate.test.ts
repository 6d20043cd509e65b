import { describe, expect, it, vi } from "vitest";
import {
  AUDIT,
  cliFixture,
  type CliFixture,
  ENVIRONMENT,
  ISSUER,
  keyOf,
  olderFixture,
  MIGRATE,
  NOW,
  olderRow,
  runAgain,
  stopAt,
  TOKENS,
  VENDOR,
} from "../testing/cli-fixture.ts";
import { audit } from "./audit.ts";
import { migrate } from "./migrate.ts";
import { storeUnavailable } from "../errors.ts";
import { DOWN } from "../testing/aws/counting-wrapper.ts";

const UNCHECKED = { ...MIGRATE, skipIssuerCheck: true };

/** The command as a server offers it, whose settings have the issuer. */
const serverDeps = ({ deps }: CliFixture): CliFixture["deps"] => ({
  ...deps,
  program: { name: "node main.js token-store", issuers: new Map([[VENDOR, ISSUER]]) },
});

const plaintextOnly = async ({ deps }: Pick<CliFixture, "deps">): Promise<number | undefined> =>
  (await audit(AUDIT, deps)).counts["plaintext_only"];

describe("migrate", () => {
  it("bar#TS-15 seals plaintext rows, keeps the copy and updated_at", async () => {
    const fixture = await olderFixture(110);
    const result = await migrate(UNCHECKED, fixture.deps);
    expect(result).toMatchObject({ ending: "done", counts: { rows: 110, sealed: 110, passes: 2 } });
    for (const user of ["u0", "u77", "u109"]) {
      const attributes = await fixture.attributes(user);
      expect(attributes).toMatchObject({ ...olderRow(user), mode: "bridge", version: 1, written_at: NOW - 9999 });
      const read = await fixture.records("encrypted").read(keyOf(user));
      expect(read?.stored.tokens.refreshToken?.reveal()).toBe(`plain-rt-${user}-1`);
    }
    expect(await plaintextOnly(fixture)).toBe(0);
  });

  it("bar#TS-15 run again changes nothing", async () => {
    const fixture = await olderFixture(30);
    await migrate(UNCHECKED, fixture.deps);
    const before = await fixture.rows.scan({ limit: 100 });
    const change = vi.spyOn(fixture.rows, "change");
    expect(await migrate(MIGRATE, fixture.deps)).toMatchObject({ ending: "done", counts: { rows: 30, passes: 1 } });
    expect(change).not.toHaveBeenCalled();
    expect(await fixture.rows.scan({ limit: 100 })).toEqual(before);
  });

  it("takes a copy that an older build has changed", async () => {
    const fixture = cliFixture();
    await fixture.records("bridge").replace(keyOf("u"), TOKENS);
    await fixture.older("u", { access_token: "plain-at-newer" });
    expect(await migrate(MIGRATE, fixture.deps)).toMatchObject({ ending: "done", counts: { copies_taken: 1 } });
    const read = await fixture.records("encrypted").read(keyOf("u"));
    expect(read?.stored.tokens.accessToken.reveal()).toBe("plain-at-newer");
  });

  it("bar#TS-15 loses nothing that others write between its read and its write", async () => {
    const fixture = await olderFixture(40);
    const change = fixture.rows.change;
    const racing = new Set<string>();
    vi.spyOn(fixture.rows, "change").mockImplementation(async (key, what, expected) => {
      const user = key.pk.slice("USER#".length);
      if (Object.hasOwn(what.set, "data_key") && !racing.has(user)) {
        racing.add(user);
        // An older build changes half of them, a server the others.
        if (racing.size % 2 === 0) await change(key, { set: olderRow(user, 2) }, {});
        else await fixture.records("bridge").replace(keyOf(user), TOKENS);
      }
      return change(key, what, expected);
    });
    expect(await migrate(UNCHECKED, fixture.deps)).toMatchObject({ ending: "done" });
    vi.restoreAllMocks();
    const found = { older: 0, server: 0 };
    for (let i = 0; i < 40; i += 1) {
      const token = (await fixture.records("bridge").read(keyOf(`u${i}`)))?.stored.tokens.accessToken.reveal();
      if (token === `plain-at-u${i}-2`) found.older += 1;
      if (token === "plain-at") found.server += 1;
    }
    expect(found).toEqual({ older: 20, server: 20 });
  });

  it("goes over the table again for rows that older builds write meanwhile, but not for ever", async () => {
    const fixture = await olderFixture(3);
    const scan = fixture.rows.scan;
    let late = 0;
    vi.spyOn(fixture.rows, "scan").mockImplementation(async (options) => {
      const page = await scan(options);
      if (late < 2) await fixture.older(`late-${(late += 1)}`);
      return page;
    });
    expect(await migrate(UNCHECKED, fixture.deps)).toMatchObject({ ending: "done", counts: { sealed: 5 } });
    late = -1000;
    const endless = await migrate(MIGRATE, fixture.deps);
    expect(endless).toMatchObject({ ending: "plaintext_left", counts: { passes: 5 } });
    expect(endless.next[0]).toContain("end them, then run it again");
  });

  it("leaves rows of vendors without an issuer, and reports them", async () => {
    const fixture = await olderFixture(2);
    await fixture.older("x", olderRow("x"), "another");
    const result = await migrate(UNCHECKED, fixture.deps);
    expect(result).toMatchObject({ ending: "plaintext_left", counts: { sealed: 2, unknown_issuer: 1 } });
    expect(await fixture.attributes("x", "another")).toEqual(olderRow("x"));
  });

  it("leaves rows that cannot be sealed or do not open, and goes on", async () => {
    const fixture = await olderFixture(2);
    await fixture.older("long", { ...olderRow("long"), access_token: "x".repeat(40_000) });
    await fixture.older("expired", { ...olderRow("expired"), ttl: NOW });
    await fixture.records("bridge").replace(keyOf("broken"), TOKENS);
    await fixture.older("broken", { sealed_access_token: "AAAA" });
    const broken = await fixture.attributes("broken");
    expect(await migrate(UNCHECKED, fixture.deps)).toMatchObject({
      ending: "plaintext_left",
      counts: { sealed: 2, refused: 1, unreadable: 1 },
    });
    expect(await fixture.attributes("broken")).toEqual(broken);
    expect(await fixture.attributes("expired")).not.toHaveProperty("data_key");
  });

  it("does not wait for a row that cannot be written, but reports it", async () => {
    const fixture = await olderFixture(20);
    const change = fixture.rows.change;
    vi.spyOn(fixture.rows, "change").mockImplementation((key, ...rest) =>
      key.pk === "USER#u7" ? Promise.resolve("conflict") : change(key, ...rest),
    );
    const result = await migrate(UNCHECKED, fixture.deps);
    expect(result).toMatchObject({ ending: "plaintext_left", counts: { sealed: 19, in_use: 1, passes: 5 } });
    expect(result.next).toEqual([
      "Could not be written, changed at every attempt: 1 row. Whose: 'token-store audit --list plaintext_only'.",
    ]);
    expect(fixture.reports.filter(({ event }) => event === "waiting")).toEqual([]);
  });

  it("seals anew under the new root with --rewrap only", async () => {
    const fixture = cliFixture();
    await fixture.records("encrypted").replace(keyOf("u"), TOKENS);
    fixture.keys.root = "b";
    fixture.clock.advance(300);
    expect((await migrate(MIGRATE, fixture.deps)).counts).not.toHaveProperty("rewrapped");
    expect(await migrate({ ...MIGRATE, rewrap: true }, fixture.deps)).toMatchObject({ counts: { rewrapped: 1 } });
    expect(await fixture.attributes("u")).toMatchObject({ data_key: expect.stringMatching(/^b\//), version: 1 });
  });

  it("dry run: reports what it would do, and changes nothing", async () => {
    const fixture = await olderFixture(4);
    await fixture.older("x", olderRow("x"), "another");
    await fixture.records("bridge").replace(keyOf("changed"), TOKENS);
    await fixture.older("changed", { access_token: "plain-at-newer" });
    const before = await fixture.rows.scan({ limit: 100 });
    expect(await migrate({ ...MIGRATE, dryRun: true }, fixture.deps)).toMatchObject({
      ending: "plaintext_left",
      dryRun: true,
      counts: { to_seal: 4, copies_to_take: 1, unknown_issuer: 1 },
    });
    expect(await fixture.rows.scan({ limit: 100 })).toEqual(before);
  });

  it("seals no more rows a second than the rate", async () => {
    const fixture = await olderFixture(100);
    await migrate({ ...UNCHECKED, rate: 10 }, fixture.deps);
    // 100 rows at 10 a second, and three walks over them at ten times that.
    expect(fixture.slept()).toBeGreaterThanOrEqual(10_000);
    expect(fixture.slept()).toBeLessThan(14_000);
  });
});

describe("the issuer given to migrate", () => {
  it("must open a row that a server has sealed", async () => {
    const fixture = await olderFixture(2);
    await fixture.records("bridge").replace(keyOf("u9"), TOKENS);
    const before = await fixture.rows.scan({ limit: 100 });
    const wrong = { ...MIGRATE, issuers: new Map([[VENDOR, `${ISSUER}/`]]) };
    const next = [expect.stringContaining("do not open with --issuer")];
    expect(await migrate(wrong, fixture.deps)).toMatchObject({ ending: "refused", next });
    expect(await fixture.rows.scan({ limit: 100 })).toEqual(before);
    expect((await migrate(MIGRATE, fixture.deps)).ending).toBe("done");
  });

  it("cannot be checked where nothing is sealed yet, and is then not trusted by default", async () => {
    const fixture = await olderFixture(2);
    const next = [expect.stringContaining("--skip-issuer-check")];
    expect(await migrate(MIGRATE, fixture.deps)).toMatchObject({ ending: "refused", next });
    expect(await plaintextOnly(fixture)).toBe(2);
  });

  it("is trusted where nothing is sealed yet when it is the one in the program's settings", async () => {
    const fixture = await olderFixture(2);
    const typed = { ...MIGRATE, issuers: new Map([[VENDOR, `${ISSUER}/`]]) };
    expect((await migrate(typed, serverDeps(fixture))).ending).toBe("refused");
    expect(await plaintextOnly(fixture)).toBe(2);
    expect(await migrate(MIGRATE, serverDeps(fixture))).toMatchObject({ ending: "done", counts: { sealed: 2 } });
    expect((await fixture.records("encrypted").read(keyOf("u1")))?.stored.tokens.accessToken.reveal()).toBe(
      "plain-at-u1-1",
    );
  });

  it("of the program's settings must open what is sealed, too", async () => {
    const fixture = await olderFixture(2);
    await fixture.records("encrypted").replace({ ...keyOf("u9"), issuer: "https://former.example" }, TOKENS);
    const next = [expect.stringContaining(`do not open with ${ISSUER}, its issuer in these settings`)];
    expect(await migrate(MIGRATE, serverDeps(fixture))).toMatchObject({ ending: "refused", next });
    expect(await plaintextOnly(fixture)).toBe(2);
  });

  it("stops its own vendor only, and a run that goes on from a checkpoint, too", async () => {
    const fixture = await olderFixture(150);
    await fixture.records("bridge").replace(keyOf("u999"), TOKENS);
    await fixture.older("x", olderRow("x"), "another");
    const options = { ...MIGRATE, issuers: new Map([...MIGRATE.issuers, ["another", "https://typed.example"]]) };
    expect(await migrate({ ...options, dryRun: true }, fixture.deps)).toMatchObject({
      counts: { to_seal: 150, issuer_refused: 1 },
      next: [expect.stringContaining("No row of another is sealed yet"), expect.stringContaining("dry run")],
    });
    const stopped = await migrate(options, stopAt(fixture, 2, 100));
    expect(stopped).toMatchObject({ ending: "interrupted", next: ["Run the same command again to go on."] });
    const result = await migrate(options, runAgain(fixture));
    expect(result).toMatchObject({ ending: "plaintext_left", counts: { sealed: 150, issuer_refused: 1, passes: 3 } });
    expect(result.next).toEqual([expect.stringContaining("--issuer another=https://typed.example cannot be checked")]);
    expect(await fixture.attributes("x", "another")).toEqual(olderRow("x"));
  });
});

describe("migrate and outages", () => {
  it("bar#TS-12 waits for the key service and goes on; meanwhile no row changes", async () => {
    const fixture = await olderFixture(20);
    fixture.keys.failure = DOWN;
    const before = await fixture.rows.scan({ limit: 100 });
    const { sleep } = fixture.deps;
    let waits = 0;
    const deps = {
      ...fixture.deps,
      sleep: async (ms: number): Promise<void> => {
        await sleep(ms);
        if (fixture.keys.failure === undefined || ms < 500) return;
        expect(await fixture.rows.scan({ limit: 100 })).toEqual(before);
        if ((waits += 1) === 30) fixture.keys.failure = undefined;
      },
    };
    expect(await migrate(UNCHECKED, deps)).toMatchObject({ ending: "done", counts: { sealed: 20 } });
    const waiting = fixture.reports.filter(({ event }) => event === "waiting");
    expect(waiting.slice(0, 3)).toMatchObject([0.5, 1, 2].map((seconds) => ({ reason: "kms_unavailable", seconds })));
    expect(waiting).toHaveLength(30);
  });

  it("waits for the table and goes on", async () => {
    const fixture = await olderFixture(20);
    for (const name of ["scan", "get", "change"] as const)
      vi.spyOn(fixture.rows, name).mockRejectedValueOnce(storeUnavailable(new Error("down")));
    expect(await migrate(UNCHECKED, fixture.deps)).toMatchObject({ ending: "done", counts: { sealed: 20 } });
  });

  it("gives up when an outage lasts, and leaves the checkpoint", async () => {
    const fixture = await olderFixture(20);
    fixture.keys.failure = DOWN;
    await expect(migrate(UNCHECKED, fixture.deps)).rejects.toMatchObject({ extras: { reason: "kms_unavailable" } });
    expect(fixture.checkpoint.kept).toMatchObject({ pass: 1, done: 0 });
    expect(fixture.slept()).toBeGreaterThanOrEqual(30 * 60_000);
  });
});

describe("migrate that is stopped", () => {
  it("bar#TS-15 finishes the rows in hand, and goes on from its checkpoint", async () => {
    const fixture = await olderFixture(450);
    const stopped = await migrate(UNCHECKED, stopAt(fixture, 1, 230));
    expect(stopped.ending).toBe("interrupted");
    expect(fixture.checkpoint.kept).toMatchObject({ pass: 1, done: 200, total: 450 });
    const left = await plaintextOnly({ deps: runAgain(fixture) });
    expect(left).toBeGreaterThan(200);
    expect(left).toBeLessThanOrEqual(220);

    const scan = vi.spyOn(fixture.rows, "scan");
    const goneOn = await migrate(UNCHECKED, runAgain(fixture));
    expect(goneOn).toMatchObject({ ending: "done", counts: { sealed: 450, rows: 450 } });
    expect(scan.mock.calls[0]?.[0].cursor).toBeDefined();
    expect(fixture.checkpoint.kept).toBeUndefined();
    expect(await plaintextOnly({ deps: runAgain(fixture) })).toBe(0);
  });

  it("opens in no other environment what it has sealed", async () => {
    const fixture = cliFixture();
    await fixture.older("u");
    await migrate(UNCHECKED, fixture.deps);
    const { counts } = await audit({ ...AUDIT, verify: true }, { ...fixture.deps, environment: `${ENVIRONMENT}-2` });
    expect(counts).toMatchObject({ unreadable: 1, opens: 0 });
  });
});
