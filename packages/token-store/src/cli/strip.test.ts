import { Secret, systemTimer } from "@oauth-broker/oauth-core";
import { describe, expect, it, vi } from "vitest";
import {
  atProgress,
  cliFixture,
  type CliFixture,
  copiesFixture,
  keyOf,
  NOW,
  olderRow,
  runAgain,
  stopAt,
  STRIP as OPTIONS,
  tableText,
  TOKENS,
} from "../testing/cli-fixture.ts";
import { copyAttributes, rowKeyOf } from "../tokens/token-attributes.ts";
import { strip } from "./strip.ts";
import { DECLARED_SECONDS, declareOlderReaders } from "../modes/older-readers.ts";

describe("strip", () => {
  it("bar#TS-10 removes every copy; the tokens stay, and the row is marked", async () => {
    const fixture = await copiesFixture(110);
    await fixture.records("encrypted").replace(keyOf("sealed"), TOKENS);
    const sealed = await fixture.attributes("sealed");
    expect(await strip(OPTIONS, fixture.deps)).toMatchObject({ ending: "done", counts: { rows: 111, stripped: 110 } });
    expect(await tableText(fixture)).not.toContain("plain-");
    for (const mode of ["bridge", "encrypted"] as const) {
      const read = await fixture.records(mode).read(keyOf("u77"));
      expect(read?.stored).toMatchObject({ version: 1, writtenAt: NOW });
      expect(read?.stored.tokens.refreshToken?.reveal()).toBe("plain-rt");
    }
    await fixture.records("bridge").replace(keyOf("u77"), TOKENS);
    expect(await tableText(fixture)).not.toContain("plain-");
    expect(await fixture.attributes("sealed")).toEqual(sealed);
  });

  it("leaves a copy with other tokens: servers ignore it, and its writer is not known", async () => {
    const fixture = await copiesFixture(2);
    await fixture.older("u0", { access_token: "plain-at-planted" });
    await fixture.records("encrypted").replace(keyOf("marked"), TOKENS);
    await fixture.older("marked", olderRow("marked"));
    expect(await strip(OPTIONS, fixture.deps)).toMatchObject({
      ending: "plaintext_left",
      counts: { stripped: 1, copy_differs: 2 },
      next: [expect.stringContaining("--list differs")],
    });
    const tokenOf = async (user: string): Promise<string | undefined> =>
      (await fixture.records("encrypted").read(keyOf(user)))?.stored.tokens.accessToken.reveal();
    expect(await tokenOf("u0")).toBe("plain-at");
    expect(await tokenOf("marked")).toBe(TOKENS.accessToken.reveal());
  });

  it("deletes what is past its ttl and shows tokens, unless the user authorized again meanwhile", async () => {
    const fixture = cliFixture();
    await fixture.older("gone", { ...olderRow("gone"), ttl: NOW });
    await fixture.older("back", { ...olderRow("back"), ttl: NOW });
    const { delete: remove } = fixture.rows;
    vi.spyOn(fixture.rows, "delete").mockImplementationOnce(async (key, expected) => {
      await fixture.records("encrypted").replace(keyOf("back"), TOKENS);
      return remove(key, expected);
    });
    expect(await strip(OPTIONS, fixture.deps)).toMatchObject({ ending: "done", counts: { expired_deleted: 1 } });
    expect(await fixture.attributes("gone")).toBeUndefined();
    expect(await fixture.records("encrypted").read(keyOf("back"))).toBeDefined();
  });

  it("never removes the copy of a row whose ciphertext does not open", async () => {
    const fixture = await copiesFixture(2);
    await fixture.older("u0", { sealed_access_token: "AAAA" });
    await fixture.older("u1", {}, "another");
    await fixture.records("bridge").replace(keyOf("x", "another"), TOKENS);
    const before = [await fixture.attributes("u0"), await fixture.attributes("x", "another")];
    expect(await strip(OPTIONS, fixture.deps)).toMatchObject({
      ending: "plaintext_left",
      counts: { stripped: 1, unreadable: 1, unknown_issuer: 1 },
    });
    expect([await fixture.attributes("u0"), await fixture.attributes("x", "another")]).toEqual(before);
  });

  it("bar#TS-15 loses nothing that a server writes at the same time", async () => {
    const fixture = await copiesFixture(40);
    const change = fixture.rows.change;
    let raced = 0;
    vi.spyOn(fixture.rows, "change").mockImplementation(async (key, what, expected) => {
      const isOurs = what.set["mode"] === "encrypted" && Object.hasOwn(expected, "data_key");
      if (isOurs && (raced += 1) % 2 === 0) {
        const user = key.pk.slice("USER#".length);
        await fixture.records("encrypted").replace(keyOf(user), { ...TOKENS, accessToken: new Secret("from-server") });
      }
      return change(key, what, expected);
    });
    expect(await strip(OPTIONS, fixture.deps)).toMatchObject({ ending: "done" });
    vi.restoreAllMocks();
    let newer = 0;
    for (let i = 0; i < 40; i += 1) {
      const read = await fixture.records("encrypted").read(keyOf(`u${i}`));
      if (read?.stored.version === 2) newer += 1;
      expect(read?.stored.tokens.accessToken.reveal()).toBe(read?.stored.version === 2 ? "from-server" : "plain-at");
    }
    expect(newer).toBe(20);
  });

  it("puts off a row under a lease to the end of the pass, until the lease has ended", async () => {
    const fixture = await copiesFixture(3);
    const lease = { owner: "server", until: NOW + 30, attemptId: "a" };
    const records = fixture.records("bridge");
    expect(await records.note((await records.read(keyOf("u0")))!, { lease })).toBeDefined();
    const change = vi.spyOn(fixture.rows, "change");
    expect(await strip(OPTIONS, fixture.deps)).toMatchObject({ ending: "done", counts: { stripped: 3 } });
    expect(change.mock.lastCall?.[0]).toEqual(rowKeyOf(keyOf("u0")));
    expect(fixture.clock()).toBeGreaterThanOrEqual(NOW + 30);
  });

  it("reports a lease that does not end", async () => {
    const fixture = await copiesFixture(1);
    await fixture.older("u0", { lease_until: NOW + 10 ** 8, lease_owner: "x", lease_attempt: "y" });
    const result = await strip(OPTIONS, fixture.deps);
    expect(result).toMatchObject({ ending: "plaintext_left", counts: { in_use: 1, passes: 5 } });
  });

  it("reports copies that come back all the time", async () => {
    const fixture = await copiesFixture(1);
    const scan = fixture.rows.scan;
    vi.spyOn(fixture.rows, "scan").mockImplementation(async (options) => {
      await fixture.older("u0", copyAttributes(TOKENS, NOW));
      return scan(options);
    });
    const result = await strip(OPTIONS, fixture.deps);
    expect(result).toMatchObject({ ending: "plaintext_left", counts: { passes: 5 } });
    expect(result.next).toEqual([expect.stringContaining("Copies come back")]);
  });

  it("goes on from its checkpoint", async () => {
    const fixture = await copiesFixture(300);
    const stopped = await strip(OPTIONS, stopAt(fixture, 1, 150));
    expect(stopped.ending).toBe("interrupted");
    expect(fixture.checkpoint.kept).toMatchObject({ done: 100, total: 300 });
    expect(await strip(OPTIONS, runAgain(fixture))).toMatchObject({ ending: "done", counts: { stripped: 300 } });
    expect(await tableText(fixture)).not.toContain("plain-");
  });

  it("comes back to a row that it had put off when it was stopped", async () => {
    const fixture = await copiesFixture(1);
    for (let i = 1; i < 150; i += 1) await fixture.records("encrypted").replace(keyOf(`u${i}`), TOKENS);
    await fixture.older("u0", { lease_until: NOW + 30, lease_owner: "x", lease_attempt: "y" });
    const stopped = await strip(OPTIONS, stopAt(fixture, 1, 120));
    expect(stopped.ending).toBe("interrupted");
    await fixture.older("u0", { lease_until: 0 });
    expect(await strip(OPTIONS, runAgain(fixture))).toMatchObject({ ending: "done", counts: { stripped: 1 } });
    expect(await tableText(fixture)).not.toContain("plain-");
  });

  it("dry run: reports what it would do, and changes nothing", async () => {
    const fixture = await copiesFixture(3);
    const before = await tableText(fixture);
    expect(await strip({ ...OPTIONS, dryRun: true }, fixture.deps)).toMatchObject({
      ending: "plaintext_left",
      dryRun: true,
      counts: { both: 3, shows_plaintext: 3 },
    });
    expect(await tableText(fixture)).toBe(before);
  });
});

async function declared({ rows, clock }: CliFixture): Promise<void> {
  const declaration = declareOlderReaders({ rows, now: clock, timer: systemTimer });
  await declaration.declared;
  declaration.stop();
}

describe("strip refuses", () => {
  it("in mode bridge", async () => {
    const fixture = await copiesFixture(1);
    expect(await strip({ ...OPTIONS, mode: "bridge" }, fixture.deps)).toMatchObject({
      ending: "refused",
      next: [expect.stringContaining("TOKEN_ENCRYPTION_MODE=encrypted")],
    });
    expect(await tableText(fixture)).toContain("plain-at");
  });

  it("bar#TS-10 while older readers are declared, saying until when, dry or not", async () => {
    const fixture = await copiesFixture(1);
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
    const fixture = await copiesFixture(250);
    let declaring = Promise.resolve();
    const declare = (): void => void (declaring = declared(fixture));
    const result = await strip(OPTIONS, atProgress(fixture, 1, 50, declare));
    await declaring;
    expect(result).toMatchObject({
      ending: "refused",
      counts: { stripped: 100 },
      next: [expect.stringContaining("declared")],
    });
    expect(fixture.checkpoint.kept).toMatchObject({ done: 100 });
  });

  it("bar#TS-10 while a row of any vendor is plaintext only", async () => {
    const fixture = await copiesFixture(1);
    await fixture.older("x", olderRow("x"), "another");
    expect(await strip(OPTIONS, fixture.deps)).toMatchObject({
      ending: "plaintext_left",
      next: ["Plaintext only: 1 row. Run 'token-store migrate' first."],
    });
    expect(await tableText(fixture)).toContain('plain-at"');
  });

  it("to call a run done that met a row which became plaintext only meanwhile", async () => {
    const fixture = await copiesFixture(1);
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
