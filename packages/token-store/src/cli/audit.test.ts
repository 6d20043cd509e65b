import { describe, expect, it } from "vitest";
import { cliBench, type CliBench, ISSUER, keyOf, NOW, olderRow, VENDOR } from "../testing/cli-bench.ts";
import { Secret } from "@oauth-broker/oauth-core";
import { audit } from "./audit.ts";

const OPTIONS = { byVendor: false, verify: false, list: undefined, issuers: new Map([[VENDOR, ISSUER]]), rate: 100 };
const TOKENS = { accessToken: new Secret("plain-at"), refreshToken: new Secret("plain-rt"), tokenType: "Bearer" };

/** One row of every kind, two that are plaintext only. */
async function tableOfAllKinds(bench: CliBench): Promise<void> {
  await bench.older("old-1");
  await bench.older("old-2", olderRow("old-2"), "another");
  await bench.records("bridge").replace(keyOf("both"), TOKENS);
  await bench.records("encrypted").replace(keyOf("sealed"), TOKENS);
  await bench.records("encrypted").replace(keyOf("broken"), TOKENS);
  await bench.rows.change({ pk: "USER#broken", sk: "VENDOR#example" }, { set: {}, remove: ["data_key"] }, {});
  await bench.older("empty", { scope: "a", updated_at: NOW });
  await bench.older("expired", { ...olderRow("expired"), ttl: NOW });
  await bench.rows.change({ pk: "flow", sk: "1" }, { set: { access_token: "not a token row" } }, {});
}

describe("audit", () => {
  it("counts the rows by kind, of all vendors, and opens none", async () => {
    const bench = cliBench();
    await tableOfAllKinds(bench);
    bench.keys.isDown = true;
    const { counts, ending, next } = await audit(OPTIONS, bench.deps);
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

  it("counts for each vendor", async () => {
    const bench = cliBench();
    await tableOfAllKinds(bench);
    const { byVendor } = await audit({ ...OPTIONS, byVendor: true }, bench.deps);
    expect(Object.keys(byVendor ?? {})).toEqual(["another", "example"]);
    expect(byVendor?.["another"]).toMatchObject({ rows: 1, plaintext_only: 1 });
    expect(byVendor?.["example"]).toMatchObject({ rows: 6, plaintext_only: 1, both: 1, expired: 1, other: 0 });
  });

  it("says what comes next once no row is plaintext only, and once no token shows", async () => {
    const bench = cliBench();
    await bench.records("bridge").replace(keyOf("both"), TOKENS);
    const before = await audit(OPTIONS, bench.deps);
    expect(before.ending).toBe("done");
    expect(before.next[0]).toContain("TOKEN_ENCRYPTION_MODE=encrypted");
    await bench.records("encrypted").replace(keyOf("both"), TOKENS);
    expect((await audit(OPTIONS, bench.deps)).next).toEqual(["No token can be read in the table."]);
  });

  it("with --verify opens every sealed row, and changes none", async () => {
    const bench = cliBench();
    await tableOfAllKinds(bench);
    await bench.records("bridge").replace(keyOf("changed"), TOKENS);
    await bench.older("changed", { access_token: "plain-at-newer" });
    await bench.records("bridge").replace(keyOf("moved"), TOKENS);
    await bench.older("elsewhere", (await bench.attributes("moved")) ?? {});
    await bench.records("encrypted").replace(keyOf("foreign", "another"), TOKENS);
    const before = await bench.rows.scan({ limit: 100 });
    const { counts } = await audit({ ...OPTIONS, verify: true }, bench.deps);
    // both, sealed and moved open; broken and elsewhere do not; foreign is of a vendor without an issuer.
    expect(counts).toMatchObject({ opens: 3, differs: 1, unreadable: 2, unknown_issuer: 1 });
    expect(await bench.rows.scan({ limit: 100 })).toEqual(before);
  });

  it("with --verify ends as unreadable_found where no row is plaintext only, but one does not open", async () => {
    const bench = cliBench();
    await bench.records("bridge").replace(keyOf("both"), TOKENS);
    const verify = { ...OPTIONS, verify: true };
    expect((await audit(verify, bench.deps)).ending).toBe("done");
    const issuers = new Map([[VENDOR, "https://other.example"]]);
    expect((await audit({ ...verify, issuers }, bench.deps)).ending).toBe("unreadable_found");
    await bench.older("both", { access_token: "plain-at-newer" });
    expect((await audit(verify, bench.deps)).ending).toBe("unreadable_found");
  });

  it("shows whose rows are of a kind, only when asked", async () => {
    const bench = cliBench();
    await tableOfAllKinds(bench);
    const rowsOf = async (options: object): Promise<unknown[]> => {
      bench.reports.length = 0;
      await audit({ ...OPTIONS, ...options }, bench.deps);
      return bench.reports.filter(({ event }) => event === "row");
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
    const bench = cliBench();
    for (let i = 0; i < 300; i += 1) await bench.records("bridge").replace(keyOf(`u${i}`), TOKENS);
    await audit(OPTIONS, bench.deps);
    expect(bench.slept()).toBe(250);
    await audit({ ...OPTIONS, verify: true }, bench.deps);
    expect(bench.slept()).toBeGreaterThan(2900);
  });
});
