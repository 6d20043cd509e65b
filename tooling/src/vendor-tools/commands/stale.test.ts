import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { REGISTRY, type RegistryEntry } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it, vi } from "vitest";
import { staleEntries } from "./stale.ts";
import { expectRefused, NOW, runInProcess } from "../testing/in-process.ts";

const DAY = 86_400;
const known = REGISTRY.get("linear") ?? expect.fail("no such vendor");
const { checks: _, ...verification } = known.verification;
const entry = (id: string, checkedOn: string, more: Partial<RegistryEntry> = {}): RegistryEntry => ({
  ...known,
  ...more,
  vendor: { ...known.vendor, id },
  verification: { ...verification, checkedOn },
});
const sunset = { endsOn: "2027-02-16", what: "version 1", source: "https://vendor.example/news" };

describe("vendor probe --all", () => {
  it("names entries whose facts are that old, oldest first", () => {
    const entries = [entry("new", "2026-11-20"), entry("old", "2026-08-23"), entry("older", "2026-01-01")];
    // 90 days before 2026-11-21.
    expect(staleEntries(entries, 90, fixedClock(NOW))).toEqual([
      { vendor: "older", reasons: ["facts of 2026-01-01"] },
      { vendor: "old", reasons: ["facts of 2026-08-23"] },
    ]);
    expect(staleEntries(entries, 90, fixedClock(NOW - 1))).toMatchObject([{ vendor: "older" }]);
  });

  it("names a single endpoint that was checked earlier than the rest", () => {
    const source = "metadata";
    const checks = {
      registrationEndpoint: { checkedOn: "2026-07-19", source },
      userinfoEndpoint: { checkedOn: "2026-11-01", source },
    };
    const one = entry("v", "2026-11-20");
    const entries = [{ ...one, verification: { ...one.verification, checks } }];
    expect(staleEntries(entries, 90, fixedClock(NOW))).toEqual([
      { vendor: "v", reasons: ["registrationEndpoint of 2026-07-19"] },
    ]);
    expect(staleEntries(entries, 126, fixedClock(NOW))).toEqual([]);
  });

  it("names entries of which something ends within that time, or has ended", () => {
    const entries = [entry("v", "2027-02-01", { sunsets: [sunset] })];
    // 2027-01-16 and the next day; a year later the day is over.
    const [early, soon, over] = [56, 57, 400].map((day) => staleEntries(entries, 30, fixedClock(NOW + day * DAY)));
    expect(early).toEqual([]);
    expect(soon).toEqual([{ vendor: "v", reasons: ["ends version 1 on 2027-02-16"] }]);
    expect(over).toMatchObject([{ reasons: expect.arrayContaining(["ends version 1 on 2027-02-16"]) }]);
  });

  it("lists the registry and sends nothing", async () => {
    const fetching = vi.spyOn(globalThis, "fetch");
    const { code, stdout, stderr } = await runInProcess(["probe", "--all", "--stale", "90d"]);
    expect(stdout).toContain("hubspot  ends version 1 of its OAuth API on 2027-02-16\n");
    expect(stderr).toMatch(/^\d+ of \d+ vendors to look at: facts of 90 days ago or older, or an end near\n$/);
    expect(code).toBe(1);
    const late = await runInProcess(["probe", "--all"], { now: fixedClock(NOW + 100 * DAY) });
    expect(late.stdout.split("\n").length).toBe(REGISTRY.size + 1);
    expect(
      await runInProcess(["probe", "--all", "--stale", "1d"], { now: fixedClock(NOW - 9000 * DAY) }),
    ).toMatchObject({ code: 0, stdout: "" });
    expect(fetching).not.toHaveBeenCalled();
  });

  it("prints JSON", async () => {
    const { stdout } = await runInProcess(["probe", "--all", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      vendors: expect.arrayContaining([{ vendor: "hubspot", reasons: [expect.stringContaining("2027-02-16")] }]),
    });
  });

  it("takes a number of days, and no vendor beside it", async () => {
    await expectRefused([
      [["probe", "--all", "--stale", "3m"], "--stale takes a number of days, such as 90d"],
      [["probe", "--all", "--stale", "0d"], "--stale takes a number of days, such as 90d"],
      [["probe", "linear", "--stale", "90d"], "--stale goes with --all"],
      [["probe", "--all", "linear"], "probe takes one vendor"],
      [["probe", "--all", "--all-first-class"], "probe takes one vendor"],
      [["probe", "--all", "--placeholder", "a=b"], "probe takes one vendor"],
    ]);
  });
});
