import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSource, ROOT } from "../sources.ts";
import { indexStandards } from "./standards-index.ts";
import { checkRequirements, readRequirements, REQUIREMENTS_PAGE, rowsIn } from "./requirements.ts";

const REQUIREMENTS = readRequirements(readFileSync(join(ROOT, REQUIREMENTS_PAGE), "utf8"));

describe("the rows of the bar", () => {
  it("are 184, thirteen scripts, and the twenty of the refresh, numbered without a gap", () => {
    const ids = REQUIREMENTS.map(({ id }) => id);
    const numbered = Map.groupBy(ids, (id) => id.replace(/\d+$/, ""));
    for (const [family, members] of numbered) {
      if (family.startsWith("8.")) continue;
      expect(members).toEqual(members.map((_, at) => `${family}${at + 1}`));
    }
    const steps = ["1", "2", "3", "5", "6", "7", ...Array.from({ length: 12 }, (_, at) => `F${at + 1}`)];
    expect(ids.filter((id) => id.startsWith("8."))).toEqual(["8.2", ...steps.map((step) => `8.2-${step}`), "8.4"]);
    expect(ids).toHaveLength(184 + 13 + 20);
  });

  it("are ours, but ten at most", () => {
    expect(REQUIREMENTS.filter(({ notOurs }) => notOurs !== undefined).length).toBeLessThanOrEqual(10);
  });
});

it("a title carries rows, scripts and numbers of the lab, each whole", () => {
  const title = "*#CB-6 *#8.2-F1 X-1 and V-12; not XA-1, X-1-2, a/*#EG-1";
  expect(rowsIn(title.replaceAll("*", "bar"))).toEqual(["CB-6", "8.2-F1", "X-1", "ID-1"]);
});

describe("the check", () => {
  const page = (...rows: string[]): string =>
    ["| row | requirement | twin |", "| --- | --- | --- |", ...rows].join("\n");
  const testFile = (code: string) => parseSource("packages/a/src/a.test.ts", code.replaceAll("*", "bar"));
  const check = (rows: readonly string[], code: string, citing: readonly (readonly [string, string])[] = []) =>
    checkRequirements(readRequirements(page(...rows)), indexStandards([testFile(code)]), new Map(citing));
  const ROWS = [
    "| CB-1 | It is refused. | yes |",
    "| CB-2 | It is refused. |  |",
    "| CB-3 | A popup. **Not ours:** There is no popup mode here. |  |",
  ];
  const TESTS = 'it("*#CB-1 *#CB-2 a", f); it("twin: *#CB-1 b", f);';

  it("takes rows that are in titles, and one that is not ours", () => {
    expect(check(ROWS, TESTS)).toEqual([]);
  });

  it.each<[what: string, rows: string[], code: string, complaint: string]>([
    ["no title", ROWS, 'it("*#CB-1 a", f); it("twin: *#CB-1 b", f);', "CB-2 stands in no title of a test"],
    ["no twin", ROWS, 'it("*#CB-1 *#CB-2 a", f);', "CB-1 has a twin, which no title shows"],
    ["a twin unsaid", ROWS, `${TESTS} it("*#CB-2 twin", f);`, "CB-2 has a twin, which the row does not say"],
    ["a test of what is not ours", ROWS, `${TESTS} it("*#CB-3 a", f);`, "CB-3 is not ours, and has a test"],
    [
      "no reason",
      [...ROWS.slice(0, 2), "| CB-3 | A popup. **Not ours:** No. |  |"],
      TESTS,
      "CB-3 is not ours, without a reason",
    ],
    ["half a sentence", [...ROWS, "| CB-4 | refused |  |"], `${TESTS} it("*#CB-4 a", f);`, "CB-4 is no whole sentence"],
    ["a row twice", [...ROWS, "| CB-2 | It is refused. |  |"], TESTS, "CB-2 is there twice"],
  ])("complains of %s", (_, rows, code, complaint) => {
    expect(check(rows, code)).toEqual([complaint]);
  });

  it("finds a citation of a row that there is not, a misspelt family too", () => {
    const text = 'it("*#CB-18 …") //= *#QQ-1 (* XA-13)'.replaceAll("*", "bar");
    expect(check(ROWS, TESTS, [["a.ts", text]])).toEqual(
      ["CB-18", "QQ-1", "XA-13"].map((id) => `a.ts cites ${id}, and there is no such row`),
    );
  });
});
