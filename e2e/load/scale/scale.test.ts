/**
 * Runs every part of `npm run scale` with small numbers: too few to say anything about cost, enough
 * to fail when a part no longer runs, or something is lost, refused or charged that should not be.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { spreadOf } from "../spread.ts";
import { ROOT } from "../../support/paths.ts";
import { measurePart, type Part, partNamed } from "./parts.ts";
import { compareWithFirst, type Found, foundText, growthLine, pageLines, range } from "./section.ts";
import type { Size } from "./size.ts";
import { linesToBuy } from "./to-buy.ts";

/** Shows that all of it works, and gives no figures. */
const SMALL: Size = {
  flows: 20,
  rounds: 1,
  warmUp: 0,
  atOnce: 8,
  onEngine: { flows: 8, rounds: 1, warmUp: 0, atOnce: 2 },
  records: [50, 500],
  processes: 2,
  entries: 20,
  starts: 1,
  connections: 80,
  busy: 16,
  waiting: 100,
  charged: 5,
  due: { users: 24, vendors: 2, perSecond: 3, lifetimeSeconds: 6, pauseMs: 1000, mostSeconds: 60 },
};

async function run(part: Part): Promise<Found> {
  const lines: string[] = [];
  const found = await measurePart(part, SMALL, (line) => lines.push(line));
  expect(lines.length).toBeGreaterThan(0);
  const shapes = PAGE.split("\n").map(shapeOf);
  expect(found.page.map(shapeOf).filter((shape) => !shapes.includes(shape))).toEqual([]);
  expect(foundText(found)).not.toContain("NaN");
  for (const { figures } of found.sections.flatMap(({ outcomes }) => outcomes)) {
    expect(figures.cpuMicroseconds?.min).toBeGreaterThan(0);
  }
  return found;
}

const PAGE = readFileSync(join(ROOT, "docs", "capacity.md"), "utf8");
/** The first cell of a line, and how many cells it has: the figures are the run's own. */
const shapeOf = (line: string): string => {
  const cells = line.split("|");
  return `${(cells[1] ?? line).trim().replaceAll(/\d[\d,.]*/g, "N")} ${cells.length}`;
};

const namesOf = ({ sections }: Found): readonly (readonly string[])[] =>
  sections.map(({ outcomes }) => outcomes.map(({ name }) => name));

/** The second cell of the lines of the page that begin so. */
const figures = ({ page }: Found, what: string): readonly string[] =>
  page.filter((line) => line.startsWith(`| ${what}`)).map((line) => line.split(" | ")[1] ?? "");

// They start many processes, or wait for a vendor's limit.
const RUNS = volume<readonly string[]>({ test: [], soak: ["a small run"] });
describe.each(RUNS)("%s", () => {
  it("has records in the store, in memory and in SQLite", async () => {
    const names = ["50 records", "500 records"];
    expect(namesOf(await run("records"))).toEqual([names, names]);
  });

  it("bar#HT-5 has many connections, and none within the limit is refused", async () => {
    const found = await run("connections");
    expect(namesOf(found)).toEqual([
      ["32 connections", "80 connections"],
      ["16 busy", "16 busy beside 80 idle"],
    ]);
    expect(figures(found, "connections refused, of 80 with")).toEqual(["0"]);
  });

  it("has users at the vendor, in memory and in SQLite", async () => {
    const waiting = figures(await run("waiting"), "memory per waiting flow");
    expect(waiting).toHaveLength(2);
    for (const figure of waiting) expect(figure).toMatch(/^-?[\d.]+ KiB resident, -?[\d.]+ KiB of it heap$/);
  });

  it("has a vendor that hangs, and flows at the others end", async () => {
    const [hanging = ""] = figures(await run("hanging"), "flows that hang at once");
    expect(Number.parseInt(hanging)).toBeGreaterThan(0);
  });

  it("has several processes on one SQLite file, and on one table", async () => {
    const found = await run("processes");
    const names = ["1 process", "2 processes, a store each", "2 processes, one store"];
    expect(namesOf(found)).toEqual([names, names]);
    const compared = found.sections.map(({ outcomes }) => outcomes.at(-1)?.comparisons.map(({ to }) => to));
    expect(compared).toEqual([names.slice(0, 2), names.slice(0, 2)]);
  });

  it("has many clients and vendors in the configuration", async () => {
    const found = await run("configuration");
    expect(namesOf(found)).toEqual([["1 + 1", "20 + 20"]]);
    const time = String.raw`[1-9]\d* ms \([1-9]\d* ms on a processor\)`;
    expect(figures(found, "start with 20 clients")[0]).toMatch(new RegExp(`^${time}; with one: ${time}$`));
  });

  it("bar#8.2 has tokens due together: none is lost, valid ones work, the queue shows", async () => {
    const found = await run("due");
    const [, ...vendors] = found.more ?? [];
    expect(vendors).toHaveLength(2);
    for (const [, , refused, passed, later, laterThoughValid, , queued] of vendors) {
      expect(Number(refused)).toBeGreaterThan(0);
      expect(Number(passed)).toBeGreaterThan(0);
      expect(Number(later)).toBeGreaterThan(0);
      expect(laterThoughValid).toBe("0");
      expect(Number(queued)).toBeGreaterThanOrEqual(10);
    }
    expect(figures(found, "users who had to sign in again")).toEqual(["0; 0"]);
  });

  it("is charged the same on a table of another size, and what the page says", async () => {
    const { page, more } = await run("units");
    for (const line of page) expect(PAGE).toContain(line);
    const [, ...rows] = more ?? [];
    const named = (what: string) => rows.filter(([name]) => name === what);
    const [few, many] = named("flow");
    expect([few?.[1], many?.[1]]).toEqual(["50", "500"]);
    expect(few?.[2]).toMatch(/^\d+ W, \d+ R$/);
    expect(many?.[2]).toBe(few?.[2]);
    expect(named("call of `/mcp`")[0]?.[2]).toBe("2 R");
    // The keys are in memory: what is stored is opened without KMS.
    expect(rows.map(([, , , kms]) => kms)).toEqual(rows.map(() => "0"));
  });
});

it("a comparison alternates, and warms up each process of a subject", async () => {
  const calls: string[] = [];
  const subject = (name: string, processes: number, cost: number) => ({
    name,
    processes,
    measure: async (flows: number) => {
      calls.push(`${name} ${flows}`);
      return { cpuMicroseconds: cost, busyPercent: 50, byProcess: Array(processes).fill(cost / processes) };
    },
  });
  const control = { ...subject("apart", 4, 110), comparisons: [{ to: "four" }] };
  const subjects = [subject("one", 1, 100), subject("four", 4, 120), control];
  const compared = await compareWithFirst(subjects, { flows: 10, rounds: 2, warmUp: 15 }, () => undefined);
  expect(calls.slice(0, 3)).toEqual(["one 1", "four 4", "apart 4"]);
  expect(calls.slice(-6)).toEqual(["one 10", "four 40", "apart 40", "apart 40", "four 40", "one 10"]);
  const found = compared.map(({ name, figures: { cpuMicroseconds }, comparisons }) => [
    name,
    cpuMicroseconds?.median,
    ...comparisons.map(({ to, ratio }) => `${ratio.median.toFixed(3)} × ${to}`),
  ]);
  expect(found).toEqual([
    ["one", 100],
    ["four", 120, "1.200 × one"],
    ["apart", 110, "1.100 × one", "0.917 × four"],
  ]);
});

describe("the lines of the page on capacity", () => {
  it("name the command once for each table, and which aims are not met", () => {
    const { page, unmet } = pageLines("due", [
      growthLine(["connections", "1", "2"], spreadOf([1.234]), 1.2),
      { cells: ["refreshed after", `${range([241.2, 248])} s`], aim: { text: "200 s", isMet: true } },
      { cells: ["refused", range([2600, 2600])] },
    ]);
    expect(page).toEqual([
      "| connections | 1 | 2 | 1.23 × | 1.2 × | `npm run scale -- due` |",
      "",
      "| refreshed after | 241 to 248 s | 200 s | `npm run scale -- due` |",
      "| refused | 2,600 | | the same |",
    ]);
    expect(unmet).toEqual(["connections: 1.23 ×, not 1.2 ×"]);
  });

  it("hold what to buy, from the processor time per flow", () => {
    const [, buy = ""] = PAGE.split("<!-- figures: CPU per flow");
    const [, sqlite, table] = /^CPU per flow: ([\d.]+) ms on SQLite; ([\d.]+) ms on a table/m.exec(buy) ?? [];
    expect(buy).toContain(linesToBuy(Number(sqlite), Number(table)).join("\n"));
  });
});

it("an unknown part is refused with the names of all", () => {
  expect(partNamed("due")).toBe("due");
  expect(() => partNamed("speed")).toThrow("records, processes");
});
