import { describe, expect, it } from "vitest";
import {
  AUDIT as OPTIONS,
  cliFixture,
  type CliFixture,
  copiesFixture,
  ISSUER,
  keyOf,
  NOW,
  olderRow,
  TOKENS,
  VENDOR,
} from "../testing/cli-fixture.ts";
import { DOWN } from "../testing/aws/counting-wrapper.ts";
import { audit } from "./audit.ts";

/** With one row of every kind, two that are plaintext only. */
async function allKindsFixture(): Promise<CliFixture> {
  const fixture = cliFixture();
  await fixture.older("old-1");
  await fixture.older("old-2", olderRow("old-2"), "another");
  await fixture.records("bridge").replace(keyOf("both"), TOKENS);
  await fixture.records("encrypted").replace(keyOf("sealed"), TOKENS);
  await fixture.records("encrypted").replace(keyOf("broken"), TOKENS);
  await fixture.rows.change({ pk: "USER#broken", sk: "VENDOR#example" }, { set: {}, remove: ["data_key"] }, {});
  await fixture.older("empty", { scope: "a", updated_at: NOW });
  await fixture.older("expired", { ...olderRow("expired"), ttl: NOW });
  await fixture.rows.change({ pk: "flow", sk: "1" }, { set: { access_token: "not a token row" } }, {});
  return fixture;
}

describe("audit", () => {
  it("counts the rows by kind, of all vendors, and opens none", async () => {
    const fixture = await allKindsFixture();
    fixture.keys.failure = DOWN;
    const { counts, ending, next } = await audit(OPTIONS, fixture.deps);
    expect(counts).toEqual({
      rows: 8,
      plaintext_only: 2,
      both: 1,
      ciphertext_only: 1,
      broken: 1,
      empty: 1,
      expired: 1,
      other: 1,
      shows_plaintext: 4,
      marked_encrypted: 2,
    });
    expect(ending).toBe("plaintext_left");
    expect(next[0]).toBe(
      "Seal the rows that are plaintext only: token-store migrate --issuer another=ISSUER --issuer example=ISSUER",
    );
  });

  it("of a server names its own command, and asks only for issuers that its settings lack", async () => {
    const fixture = await allKindsFixture();
    const program = { name: "node main.js token-store", issuers: new Map([[VENDOR, ISSUER]]) };
    const { next } = await audit({ ...OPTIONS, verify: true }, { ...fixture.deps, program });
    expect(next[0]).toBe(
      "Seal the rows that are plaintext only: node main.js token-store migrate --issuer another=ISSUER",
    );
    expect(next[1]).toContain("Whose: 'node main.js token-store audit --list broken'.");
  });

  it("counts for each vendor", async () => {
    const fixture = await allKindsFixture();
    const { byVendor } = await audit({ ...OPTIONS, byVendor: true }, fixture.deps);
    expect(Object.keys(byVendor ?? {})).toEqual(["another", "example"]);
    expect(byVendor?.["another"]).toMatchObject({ rows: 1, plaintext_only: 1 });
    expect(byVendor?.["example"]).toMatchObject({ rows: 6, plaintext_only: 1, both: 1, expired: 1, other: 0 });
  });

  it("says what comes next once no row is plaintext only, and once no token shows", async () => {
    const fixture = cliFixture();
    await fixture.records("bridge").replace(keyOf("both"), TOKENS);
    const before = await audit(OPTIONS, fixture.deps);
    expect(before.ending).toBe("done");
    expect(before.next[0]).toContain("TOKEN_ENCRYPTION_MODE=encrypted");
    await fixture.records("encrypted").replace(keyOf("both"), TOKENS);
    expect((await audit(OPTIONS, fixture.deps)).next).toEqual(["No token can be read in the table."]);
  });

  it("with --verify opens every sealed row, and changes none", async () => {
    const fixture = await allKindsFixture();
    await fixture.records("bridge").replace(keyOf("changed"), TOKENS);
    await fixture.older("changed", { access_token: "plain-at-newer" });
    await fixture.records("bridge").replace(keyOf("moved"), TOKENS);
    await fixture.older("elsewhere", (await fixture.attributes("moved")) ?? {});
    await fixture.records("encrypted").replace(keyOf("foreign", "another"), TOKENS);
    const before = await fixture.rows.scan({ limit: 100 });
    const { counts } = await audit({ ...OPTIONS, verify: true }, fixture.deps);
    // both, sealed and moved open; broken and elsewhere do not; foreign belongs to a vendor without
    // an issuer.
    expect(counts).toMatchObject({ opens: 3, differs: 1, unreadable: 2, unknown_issuer: 1 });
    expect(await fixture.rows.scan({ limit: 100 })).toEqual(before);
  });

  it("with --verify ends as unreadable_found if a row does not open", async () => {
    const fixture = cliFixture();
    await fixture.records("bridge").replace(keyOf("both"), TOKENS);
    const verify = { ...OPTIONS, verify: true };
    expect((await audit(verify, fixture.deps)).ending).toBe("done");
    const issuers = new Map([[VENDOR, "https://other.example"]]);
    expect((await audit({ ...verify, issuers }, fixture.deps)).ending).toBe("unreadable_found");
    await fixture.older("both", { access_token: "plain-at-newer" });
    await fixture.older("plaintext only");
    expect((await audit(verify, fixture.deps)).ending).toBe("unreadable_found");
  });

  it("shows the users of the rows of a kind, only on request", async () => {
    const fixture = await allKindsFixture();
    const rowsOf = async (options: object): Promise<unknown[]> => {
      fixture.reports.length = 0;
      await audit({ ...OPTIONS, ...options }, fixture.deps);
      return fixture.reports.filter(({ event }) => event === "row");
    };
    expect(await rowsOf({})).toEqual([]);
    expect(await rowsOf({ list: "plaintext_only" })).toEqual([
      { event: "row", kind: "plaintext_only", user: "old-1", vendor: "example" },
      { event: "row", kind: "plaintext_only", user: "old-2", vendor: "another" },
    ]);
    expect(await rowsOf({ list: "expired" })).toMatchObject([{ user: "expired" }]);
    expect(await rowsOf({ list: "unreadable", verify: true })).toMatchObject([{ user: "broken" }]);
  });

  it("looks at no more rows a second than ten times the rate, and opens no more than the rate", async () => {
    const fixture = await copiesFixture(300);
    await audit(OPTIONS, fixture.deps);
    expect(fixture.slept()).toBe(250);
    await audit({ ...OPTIONS, verify: true }, fixture.deps);
    expect(fixture.slept()).toBeGreaterThan(2900);
  });
});
