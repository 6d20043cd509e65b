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
import { compareSubjects } from "./compare.ts";
import { partNamed, PARTS, type Part } from "./parts.ts";
import { atMost, pageLines, range, type Row, type Section, sectionText } from "./section.ts";
import { SMALL } from "./size.ts";
import { linesToBuy } from "./to-buy.ts";

async function run(part: Part): Promise<readonly Section[]> {
  const lines: string[] = [];
  const { sections, page } = await PARTS[part].measure(SMALL, (line) => lines.push(line));
  expect(lines.length).toBeGreaterThan(0);
  const shapes = PAGE.split("\n").map(shapeOf);
  expect(page.map(shapeOf).filter((shape) => !shapes.includes(shape))).toEqual([]);
  return sections;
}

const PAGE = readFileSync(join(ROOT, "docs", "capacity.md"), "utf8");
/** The first cell of a line, and how many cells it has: the figures are the run's own. */
const shapeOf = (line: string): string => {
  const cells = line.split("|");
  return `${(cells[1] ?? line).trim().replaceAll(/\d[\d,.]*/g, "N")} ${cells.length}`;
};

const rowsOf = (sections: readonly Section[]): readonly Row[] => sections.flatMap(({ rows }) => rows);
const figures = (sections: readonly Section[]): readonly string[] => rowsOf(sections).map(({ figure }) => figure);

// They start many processes, or wait for a vendor's limit.
const RUNS = volume<readonly string[]>({ test: [], soak: ["a small run"] });
describe.each(RUNS)("%s", () => {
  it("has records in the store, in memory and in SQLite", async () => {
    const sections = await run("records");
    expect(sections.map(({ rows }) => rows.map(({ what }) => what))).toEqual([
      ["50 records", "500 records"],
      ["50 records", "500 records"],
    ]);
    for (const figure of figures(sections)) expect(figure).toMatch(/^[1-9]\d* µs$/);
  });

  it("bar#HT-5 has many connections, and none within the limit is refused", async () => {
    const rows = rowsOf(await run("connections"));
    const names = rows.map(({ what }) => what);
    expect(names).toContain("CPU per flow, 80 connections");
    expect(names).toContain("CPU per flow, 16 busy beside 80 idle");
    expect(rows.at(-1)).toMatchObject({ what: "refused, of 80 at once", figure: "0" });
  });

  it("has users at the vendor, in memory and in SQLite", async () => {
    const sections = await run("waiting");
    expect(sections).toHaveLength(2);
    for (const figure of figures(sections)) expect(figure).toMatch(/^-?[\d.]+ [KM]iB$/);
  });

  it("has a vendor that hangs, and flows at the others end", async () => {
    const rows = rowsOf(await run("hanging"));
    const [hanging] = rows.filter(({ what }) => what === "flows that hang at once");
    expect(Number(hanging?.figure)).toBeGreaterThan(0);
  });

  it("has several processes on one SQLite file, and on one table", async () => {
    const sections = await run("processes");
    const rows = (store: string): string[] => [
      "1 process",
      `2 processes, a ${store} each`,
      `2 processes, one ${store}`,
      "what sharing costs: to a store each",
    ];
    expect(rowsOf(sections).map(({ what }) => what)).toEqual([...rows("SQLite file"), ...rows("table")]);
    for (const figure of figures(sections)) expect(figure).toMatch(/^([1-9]\d* µs)?$/);
  });

  it("has many clients and vendors in the configuration", async () => {
    const [flows, starts] = await run("configuration");
    expect(flows?.rows.map(({ what }) => what)).toEqual(["1 + 1", "20 + 20"]);
    const parts = ["time", "of that on a processor"];
    expect(starts?.rows.map(({ what }) => what)).toEqual(
      ["1 + 1", "20 + 20"].flatMap((entries) => parts.map((part) => `${entries}: ${part}`)),
    );
    for (const { figure } of starts?.rows ?? []) expect(figure).toMatch(/^[1-9]\d* ms$/);
  });

  it("bar#8.2 has tokens due together: none is lost, valid ones work, the queue shows", async () => {
    const rows = rowsOf(await run("due"));
    const all = (what: string): readonly Row[] => rows.filter((row) => row.what.includes(what));
    expect(all("all 24 refreshed, none lost")).toHaveLength(2);
    for (const { figure } of all("refused (429)")) expect(Number(figure)).toBeGreaterThan(0);
    for (const { figure } of all("503 with Retry-After")) expect(Number(figure)).toBeGreaterThan(0);
    for (const { figure } of all("still valid").filter(({ aim }) => aim !== undefined)) expect(figure).toBe("0");
    for (const { figure } of all("in the queue")) expect(Number(figure)).toBeGreaterThanOrEqual(10);
  });

  it("is charged the same on a table of another size", async () => {
    const rows = rowsOf(await run("units"));
    const named = (what: string): readonly Row[] => rows.filter((row) => row.what.startsWith(what));
    const [few, many] = named("flow, ");
    expect(few?.figure).toMatch(/^\d+ W \d+ R$/);
    expect(many?.figure).toBe(few?.figure);
    expect(named("call of `/mcp`:")[0]?.figure).toBe("0 W 2 R");
    // The keys are in memory: what is stored is opened without KMS.
    expect(rows.map(({ what }) => what.split("; KMS ")[1])).toEqual(rows.map(() => "0"));
  });
});

describe("a comparison", () => {
  it("alternates, and warms up each process of a subject", async () => {
    const calls: string[] = [];
    const subject = (name: string, processes: number, cost: number) => ({
      name,
      processes,
      measure: async (flows: number) => {
        calls.push(`${name} ${flows}`);
        return { cpuMicroseconds: cost, busy: 0.5, byProcess: Array(processes).fill(cost / processes) };
      },
    });
    const control = { ...subject("apart", 4, 110), control: "four" };
    const subjects = [subject("one", 1, 100), subject("four", 4, 120), control];
    const compared = await compareSubjects(subjects, { flows: 10, rounds: 2, warmUp: 15 }, () => undefined);
    expect(calls.slice(0, 3)).toEqual(["one 1", "four 4", "apart 4"]);
    expect(calls.slice(-6)).toEqual(["one 10", "four 40", "apart 40", "apart 40", "four 40", "one 10"]);
    expect(compared.map(({ name, cpu, ratio }) => [name, cpu.median, ratio.median])).toEqual([
      ["one", 100, 1],
      ["four", 120, 1.2],
      ["apart", 110, 1.1],
    ]);
    expect(compared.map(({ toControl }) => toControl?.median.toFixed(3))).toEqual([undefined, undefined, "0.917"]);
  });

  it("is printed with its quartiles and its aim", () => {
    const ratio = spreadOf([1.1, 1.2, 1.3]);
    const rows = [
      { what: "1 process", figure: "100 µs" },
      { what: "4", figure: "120 µs", ratio, aim: atMost(1.15, ratio) },
    ];
    const [title, first, second] = sectionText({ title: "Processes", rows }).split("\n");
    expect(title).toBe("Processes");
    expect(first).toMatch(/^ {2}1 process +100 µs$/);
    expect(second).toMatch(/120 µs +1\.20 \(1\.15 to 1\.25\) × {2}NOT MET: at most 1\.15$/);
  });
});

describe("the lines of the page on capacity", () => {
  it("name the command once for each table", () => {
    const lines = pageLines("due", [
      ["refreshed after", `${range([241.2, 248])} s`, "200 s"],
      ["refused", range([2600, 2600]), ""],
    ]);
    expect(lines).toEqual([
      "| refreshed after | 241 to 248 s | 200 s | `npm run scale -- due` |",
      "| refused | 2,600 | | the same |",
    ]);
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
