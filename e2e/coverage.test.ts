/** Holds requirements.ts against the tests there are: no row forgotten, none claimed that no test title carries. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Requirement } from "./requirement.ts";
import { REQUIREMENTS } from "./requirements.ts";
import { ROOT } from "./support/paths.ts";

/** How many rows of each kind the bar has for a broker, a token store and an MCP server. */
const FAMILIES = {
  ST: 10,
  CB: 17,
  XA: 8,
  VR: 10,
  ID: 9,
  JW: 4,
  DI: 3,
  HT: 10,
  X: 13,
  TS: 20,
  RF: 9,
  RV: 4,
  DC: 9,
  BY: 5,
  AS: 22,
  RS: 9,
};

/** Tests, and the contracts that adapters' tests call. */
const TESTS = [
  "packages/*/src/**/*.test.ts",
  "packages/*/src/testing/*.ts",
  "apps/*/src/**/*.test.ts",
  "e2e/**/*.test.ts",
];

/** By path: the lines of every one of them, without comments, which prove nothing. */
const LINES: ReadonlyMap<string, readonly string[]> = new Map(
  globSync(TESTS, { cwd: ROOT, exclude: (name) => name.endsWith("node_modules") }).map((path) => [
    path.replaceAll("\\", "/"),
    readFileSync(join(ROOT, path), "utf8")
      .split("\n")
      .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line)),
  ]),
);

/** `bar#CB-1`, not `bar#CB-10`; `X-1`, not `X-13` and not `XA-1`. The lab, `ID-1`, has a number for each vendor. */
function carries(id: string, line: string): boolean {
  if (id === "ID-1" && /(?<![\w-])V-\d+/.test(line)) return true;
  const name = id.startsWith("X-") ? `(?<![\\w-])${id}` : `bar#${id}`;
  return new RegExp(`${name}(?!\\d)`).test(line);
}

const ours = REQUIREMENTS.filter(({ outOfScope }) => outOfScope === undefined);

describe("the rows of the bar", () => {
  it("are all there, once", () => {
    const expected = Object.entries(FAMILIES).flatMap(([family, count]) =>
      Array.from({ length: count }, (_, index) => `${family}-${index + 1}`),
    );
    expect(REQUIREMENTS.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
  });

  it("that are not theirs say why, and claim no test", () => {
    const others = REQUIREMENTS.filter(({ outOfScope }) => outOfScope !== undefined);
    expect(others.filter(({ outOfScope = "", testedIn }) => outOfScope.length < 20 || testedIn.length > 0)).toEqual([]);
    expect(others.length).toBeLessThan(17);
  });

  it.each(ours.map((one) => [one.id, one] as const))(
    "%s stands in a title of each test it names",
    (id, { testedIn }) => {
      expect(testedIn.length).toBeGreaterThan(0);
      const without = testedIn.filter((path) => LINES.get(path)?.some((line) => carries(id, line)) !== true);
      expect(without).toEqual([]);
    },
  );

  const twins = ours.flatMap(({ id, twinIn }: Requirement) => (twinIn === undefined ? [] : [[id, twinIn] as const]));

  it.each(twins)("%s succeeds in its twin in %s", (id, path) => {
    expect(LINES.get(path)?.filter((line) => carries(id, line) && /\btwin\b/.test(line))).not.toEqual([]);
  });

  it("are named by no test that the bar does not have", () => {
    const known = new Set(REQUIREMENTS.map(({ id }) => id));
    const families = new RegExp(`bar#((?:${Object.keys(FAMILIES).join("|")})-\\d+)`, "g");
    const named = [...LINES].flatMap(([path, lines]) =>
      lines.flatMap((line) => [...line.matchAll(families)].map(([, id = ""]) => [id, path] as const)),
    );
    // Rows of the template and of stored connections have their tests there.
    expect(named.filter(([id]) => !known.has(id) && !/^XA-(9|1[0-2])$/.test(id))).toEqual([]);
    expect(named.length).toBeGreaterThan(100);
  });
});
