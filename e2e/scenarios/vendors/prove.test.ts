/**
 * A sample of the vendors that are on, connected, refreshed, revoked and refused through the broker
 * against simulators made from their entries. Another commit is another sample. The soak takes a
 * larger one, and the wrong copies of a small one; `npm run vendors:prove` takes all of both, weekly.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { proveVendors, vendorsThatAreOn } from "../../prove/prove.ts";
import { isGoodEnough, report } from "../../prove/report.ts";
import { ROOT } from "../../support/paths.ts";

const SAMPLE = 8;

/** The commit; outside of a repository, what the catalogue contains. */
function seed(): string {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    const catalogue = readFileSync(join(ROOT, "packages/oauth-core/src/registry/catalogue.json"));
    return createHash("sha256").update(catalogue).digest("hex");
  }
}

/** So many, the same for the same seed. */
function sampleOf(vendors: readonly string[], count: number, of: string): string[] {
  const place = (id: string): string => createHash("sha256").update(`${of} ${id}`).digest("hex");
  return vendors.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)).slice(0, count);
}

describe("vendors:prove", () => {
  const [on, of] = [vendorsThatAreOn(), seed()];
  const samples = volume({
    test: [{ size: SAMPLE, mutations: false }],
    soak: [
      { size: on.length, mutations: false },
      { size: 10, mutations: true },
    ],
  });
  it.each(samples)("passes for $size vendors, wrong copies: $mutations", { timeout: 900_000 }, async (sample) => {
    const { size, mutations } = sample;
    const proof = await proveVendors({ vendors: sampleOf(on, size, of), mutations });
    const shown = report(proof);
    console.log(shown);
    expect(shown).toContain(`${size} of ${size} vendors pass`);
    expect(isGoodEnough(proof), shown).toBe(true);
  });

  it("notices a wrong copy of each kind of fact of one vendor", async () => {
    const proof = await proveVendors({ vendors: ["github-app"], mutations: true });
    expect(report(proof)).toMatch(/^1 of 1 vendors pass$/m);
    expect(isGoodEnough(proof), report(proof)).toBe(true);
    expect([...proof.kinds.keys()]).toEqual(
      expect.arrayContaining(["endpoint host", "endpoint path", "PKCE", "client authentication", "rotation"]),
    );
  });

  it("chooses the same sample for the same seed, and another for another", () => {
    const on = vendorsThatAreOn();
    expect(sampleOf(on, SAMPLE, "a")).toEqual(sampleOf(on.toReversed(), SAMPLE, "a"));
    expect(sampleOf(on, SAMPLE, "a")).not.toEqual(sampleOf(on, SAMPLE, "b"));
  });

  it("ends with its limits, and fails if a vendor fails or a wrong fact is missed", () => {
    const kinds = new Map([["PKCE", { total: 8, missed: [] }]]);
    const good = { vendors: ["a"], failures: [], kinds, steps: new Map([["connect", 8]]), idle: [] };
    expect(isGoodEnough(good)).toBe(true);
    expect(report(good).split("\n").at(-1)).toMatch(/not that the entries are true\.$/);
    const failure = { vendor: "a", step: "connect", why: "x", refused: ["y"] };
    expect(isGoodEnough({ ...good, failures: [failure] })).toBe(false);
    expect(report({ ...good, failures: [failure] })).toContain("FAIL a, connect: x\n     the simulator refused: y");
    const missing = (...missed: string[]) => ({ ...good, kinds: new Map([["PKCE", { total: 8, missed }]]) });
    expect(isGoodEnough(missing("a pkce"))).toBe(false);
    expect(report(missing("a pkce"))).toContain("not noticed: a pkce");
    const [known, wrike] = ["wrike account: endpoint host", { vendors: ["a", "wrike"] }];
    expect(isGoodEnough({ ...missing(known), ...wrike })).toBe(true);
    expect(report({ ...missing(known), ...wrike })).toContain(`not noticed, as known: ${known}`);
    expect(isGoodEnough({ ...good, ...wrike })).toBe(false);
    expect(report({ ...good, ...wrike })).toContain(`noticed, and in the list of known gaps: ${known}`);
  });
});
