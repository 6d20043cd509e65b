/**
 * Compares the rows of the security bar with the existing tests: no row without a test, no row with
 * a test whose title does not carry it, no citation of a missing row. A title carries a row as
 * `bar#ID`, a scripted attack by its name (`X-1`), and the lab of misbehaving vendors, which is
 * ID-1, by its numbers (`V-1`).
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/paths.ts";
import { FAMILIES, REQUIREMENTS } from "./list.ts";

/** Tests, and the contracts that adapters' tests call. */
const TESTS = [
  "packages/*/src/**/*.test.ts",
  "packages/*/src/testing/**/*.ts",
  "apps/*/src/**/*.test.ts",
  "e2e/**/*.test.ts",
  "tooling/src/**/*.test.ts",
];
/** Other places that may cite a row. */
const CITING = [
  "{packages,apps}/*/src/**/*.ts",
  "e2e/**/*.ts",
  "tooling/src/**/*.ts",
  "*.md",
  "docs/**/*.md",
  "{apps,packages}/*/*.md",
];

function read(patterns: readonly string[]): [path: string, text: string][] {
  return globSync(patterns, { cwd: ROOT, exclude: (name) => /(^|[/\\])(node_modules|dist)$/.test(name) }).map(
    (path) => [path.replaceAll("\\", "/"), readFileSync(join(ROOT, path), "utf8")],
  );
}

/** By path: the lines of each test without comments, which prove nothing. */
const LINES: ReadonlyMap<string, readonly string[]> = new Map(
  read(TESTS).map(([path, text]) => [path, text.split("\n").filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))]),
);

const familyOf = (id: string): string => id.split(/[-.]/, 1)[0] ?? "";

/** `bar#CB-1`, not `bar#CB-10`; `X-1`, not `X-13` and not `XA-1`. */
function carries(id: string, line: string): boolean {
  if (id === "ID-1" && /(?<![\w-])V-\d+/.test(line)) return true;
  const name = id.startsWith("X-") ? `(?<![\\w-])${id}` : `bar#${id}`;
  return new RegExp(`${name.replaceAll(".", "\\.")}(?![\\d-])`).test(line);
}

const ours = REQUIREMENTS.filter(({ notOurs }) => notOurs === undefined);

describe("the rows of the bar", () => {
  it("are 184, thirteen scripts, and the twenty of the refresh, each once", () => {
    const numbered = FAMILIES.filter(({ name }) => name !== "8").flatMap(({ name, count }) =>
      Array.from({ length: count }, (_, index) => `${name}-${index + 1}`),
    );
    const steps = ["1", "2", "3", "5", "6", "7", ...Array.from({ length: 12 }, (_, index) => `F${index + 1}`)];
    const expected = [...numbered, "8.2", "8.4", ...steps.map((step) => `8.2-${step}`)];
    expect(REQUIREMENTS.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
    expect(expected).toHaveLength(184 + 13 + 20);
  });

  it("are of one family each, as many as it says", () => {
    const counts = FAMILIES.map(({ name, count }) => [name, count] as const);
    expect(FAMILIES.map(({ name }) => [name, REQUIREMENTS.filter(({ id }) => familyOf(id) === name).length])).toEqual(
      counts,
    );
  });

  it("say what happens in whole sentences", () => {
    expect(REQUIREMENTS.filter(({ text }) => !/^[A-Z`].*\.$/.test(text)).map(({ id }) => id)).toEqual([]);
  });

  it("that are not ours give the reason, and claim no test", () => {
    const others = REQUIREMENTS.filter(({ notOurs }) => notOurs !== undefined);
    expect(others.filter(({ notOurs = "", testedIn }) => notOurs.length < 20 || testedIn.length > 0)).toEqual([]);
    expect(others.length).toBeLessThanOrEqual(10);
  });

  it.each(ours.map((one) => [one.id, one] as const))(
    "%s stands in a title of each test it names",
    (id, { testedIn }) => {
      expect(testedIn.length).toBeGreaterThan(0);
      const without = testedIn.filter((path) => LINES.get(path)?.some((line) => carries(id, line)) !== true);
      expect(without).toEqual([]);
    },
  );

  const twins = ours.flatMap(({ id, twinIn }) => (twinIn === undefined ? [] : [[id, twinIn] as const]));

  it.each(twins)("%s succeeds in its twin in %s", (id, path) => {
    expect(LINES.get(path)?.filter((line) => carries(id, line) && /\btwin\b/.test(line))).not.toEqual([]);
  });

  it("are all that is cited, anywhere", () => {
    const known = new Set(REQUIREMENTS.map(({ id }) => id));
    const cited = [...read(CITING)].flatMap(([path, text]) => citations(text).map((id) => ({ id, path })));
    expect(cited.filter(({ id }) => !known.has(id))).toEqual([]);
    expect(cited.length).toBeGreaterThan(500);
  });

  it("are recognised where one is cited that there is not", () => {
    const text = 'it("*#CB-18 …") //= *#QQ-1 (* XA-13)';
    expect(citations(text.replaceAll("*", "bar"))).toEqual(["CB-18", "QQ-1", "XA-13"]);
  });
});

/**
 * Everything after `bar#`, so that a misspelt family is found too; in prose without the sign, `bar
 * CB-6`.
 */
function citations(text: string): string[] {
  return [...text.matchAll(/(?<![\w/])bar(?:#(\w[\w.-]*\w)| ([A-Z]{1,2}-\d+))/g)]
    .map(([, cited = "", named = ""]) => cited + named)
    .filter((id) => id !== "ID");
}
