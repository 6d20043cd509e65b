/**
 * A short drill, in the soak, with this build instead of the release before: it fails when a client
 * sees in a window what it was not promised. `npm run drill` rolls between two releases at full size.
 */
import { patience, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { THIS_BUILD } from "./fleet.ts";
import { type DrillSize, FULL, runDrill, runRestoreDrill } from "./drill.ts";
import { report, type Seen, type Tally, tally, type Window } from "./ledger.ts";

/** Two of each: a process beside another. Back and forward again would be three rolls to one build. */
const SIZE: DrillSize = {
  ...FULL,
  brokers: 2,
  servers: 2,
  rollsBack: false,
  clients: { flow: 2, refresh: 2, call: 3 },
  pauseMs: 200,
  outageSeconds: 5,
  rotationSeconds: 1,
  calmSeconds: 1,
};
const DRILLS = volume<readonly string[]>({ test: [], soak: ["a short drill"] });

const brokenPromises = (tallies: readonly Tally[]): readonly string[] =>
  tallies.flatMap(({ name, broken }) => broken.map((what) => `${name}: ${what}`));

const LIMIT_MS = patience(60_000);

describe.concurrent.each(DRILLS)("%s", () => {
  it(
    "keeps every promise through rolls, key rotations, outages and a killed process",
    { timeout: LIMIT_MS },
    async () => {
      const tallies = await runDrill({ previous: THIS_BUILD, current: THIS_BUILD, size: SIZE }, () => undefined);
      expect(brokenPromises(tallies)).toEqual([]);
      const counts = Object.fromEntries(tallies.map((one) => [one.name, one.counts]));
      // The windows were real.
      expect(counts["the table is away"]?.deferred).toBeGreaterThan(0);
      expect(counts["roll forward"]?.answered).toBeGreaterThan(5);
      expect(counts["between"]?.answered).toBeGreaterThan(5);
    },
  );

  it("keeps every promise while a SQLite store is copied and put back", { timeout: LIMIT_MS }, async () => {
    const tallies = await runRestoreDrill(SIZE, () => undefined);
    expect(brokenPromises(tallies)).toEqual([]);
    const [copied, restored] = tallies;
    expect(copied?.counts.answered).toBeGreaterThan(0);
    expect(restored?.counts.cut).toBeGreaterThan(0);
  });
});

describe("the ledger", () => {
  const outage: Window = {
    name: "outage",
    promised: { text: "503", deferred: ["flow"], withinMs: 100 },
    from: 100,
    to: 200,
  };
  const kill: Window = { name: "kill", promised: { text: "cut", cut: true, withinMs: 100 }, from: 300, to: 400 };
  const seen = (from: number, outcome: Seen["outcome"], more: Partial<Seen> = {}): Seen => ({
    operation: "flow",
    from,
    to: from + 10,
    outcome,
    ...more,
  });
  const ordinary = [seen(50, "answered"), seen(150, "deferred"), seen(350, "cut"), seen(351, "lost")];
  const brokenBy = (...more: Seen[]): readonly (readonly string[])[] =>
    tally([...ordinary, ...more], [outage, kill]).map(({ broken }) => broken);

  it("counts by window, and what is in none as between", () => {
    const counts = tally(ordinary, [outage, kill]).map((one) => [one.name, one.counts]);
    const none = { answered: 0, deferred: 0, cut: 0, lost: 0, failed: 0 };
    expect(counts).toEqual([
      ["outage", { ...none, deferred: 1 }],
      ["kill", { ...none, cut: 1, lost: 1 }],
      ["between", { ...none, answered: 1 }],
    ]);
    expect(brokenBy()).toEqual([[], [], []]);
  });

  it.each<[string, Seen, readonly (readonly string[])[]]>([
    ["a failure", seen(150, "failed", { detail: "token 500 x" }), [["1 × flow: token 500 x"], [], []]],
    [
      "a deferral of an operation that has none",
      seen(150, "deferred", { operation: "call" }),
      [["1 × call: deferred"], [], []],
    ],
    ["a deferral between", seen(250, "deferred"), [[], [], ["1 × flow: deferred"]]],
    ["a cut between", seen(250, "cut"), [[], [], ["1 × flow: cut"]]],
    ["a late answer", seen(150, "deferred", { to: 300 }), [["1 × flow: deferred after more than 100 ms"], [], []]],
    ["an operation lost without a cut", seen(352, "lost"), [[], ["2 operations started anew, 1 connections cut"], []]],
    ["what began before a window and met it", seen(95, "failed"), [["1 × flow: failed"], [], []]],
  ])("says that %s breaks the promise", (_, more, broken) => {
    expect(brokenBy(more)).toEqual(broken);
  });

  it.each<[string, Seen["outcome"], readonly (readonly string[])[]]>([
    ["the second allows its outcome", "cut", [[], [], []]],
    ["the second allows its time", "answered", [[], [], []]],
    ["neither allows it", "failed", [["1 × flow: failed"], [], []]],
  ])("of two windows that a request met, %s", (_, outcome, broken) => {
    const patient = { ...kill, promised: { ...kill.promised, withinMs: 200 } };
    const tallies = tally([...ordinary, seen(195, outcome, { to: 350 })], [outage, patient]);
    expect(tallies.map((one) => one.broken)).toEqual(broken);
  });

  it("lets a window promise another time to what may have had tokens to store", () => {
    const away = { ...outage, promised: { ...outage.promised, storedWithinMs: 200 } };
    const late = (ms: number, mayStore: boolean): Seen => seen(150, "deferred", { to: 150 + ms, mayStore });
    expect(tally([late(200, true), late(201, true), late(101, false)], [away])[0]?.broken).toEqual([
      "1 × flow: deferred after more than 200 ms",
      "1 × flow: deferred after more than 100 ms",
    ]);
  });

  it("lets a window promise how many operations may have to start anew although none was cut", () => {
    const away = { ...outage, promised: { ...outage.promised, lost: 1 } };
    const brokenAfter = (...more: Seen[]): readonly string[] | undefined =>
      tally([seen(150, "deferred"), ...more], [away])[0]?.broken;
    expect(brokenAfter(seen(160, "lost"))).toEqual([]);
    expect(brokenAfter(seen(160, "lost"), seen(161, "lost"))).toEqual(["2 operations started anew, 0 connections cut"]);
  });

  it("says that a window without a request proves nothing", () => {
    expect(tally([seen(50, "answered")], [outage])[0]?.broken).toEqual(["no request was under way"]);
  });

  it("is printed as a table, with what broke below", () => {
    const lines = report(tally([...ordinary, seen(250, "cut")], [outage, kill])).split("\n");
    expect(lines[0]).toMatch(/^window +s +answered +deferred +cut +lost +failed +longest +promised$/);
    expect(lines[1]).toMatch(/^outage +0 +0 +1 +0 +0 +0 +10 ms +kept: 503$/);
    expect(lines[3]).toMatch(/BROKEN: every request is answered$/);
    expect(lines.at(-1)).toBe("BROKEN in between: 1 × flow: cut");
  });
});
