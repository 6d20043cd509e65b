import { describe, expect, it } from "vitest";
import { readPublished, renderExports } from "./exports-page.ts";
import { parseSource } from "./sources.ts";

const entry = (text: string): string => {
  const { exports } = parseSource("packages/x/src/index.ts", text);
  return (
    renderExports([{ specifier: "@x/y", exports }])
      .split("```")[1]
      ?.trim() ?? ""
  );
};

describe("the exported names", () => {
  it("are values, then types, in order", () => {
    const text = `export { b, type D, a as c } from "./a.ts"; export type { F } from "./b.ts";
      export interface E {} export const z = 1; export function g() {} export class H {}`;
    expect(entry(text).split("\n")).toEqual([
      ...["H", "b", "c", "g", "z"].map((name) => `value ${name}`),
      ...["D", "E", "F"].map((name) => `type  ${name}`),
    ]);
  });

  it("show where not every name is given", () => {
    expect(entry('export * from "./a.ts";')).toBe("value *");
  });

  it("of this repository are those of published packages, one by one", () => {
    const published = readPublished();
    expect(published.map(({ specifier }) => specifier)).toContain("@oauth-broker/oauth-core/egress");
    expect(published.map(({ specifier }) => specifier)).not.toContain("@oauth-broker/oauth-core/testing");
    expect(published.flatMap(({ exports }) => exports).filter(({ name }) => name === "*")).toEqual([]);
    expect(published.every(({ exports }) => exports.length > 0)).toBe(true);
  });

  it("are few enough to read: at most 25 values an entry", () => {
    const counts = readPublished().map(({ specifier, exports }) => ({
      specifier,
      values: exports.filter(({ isType }) => !isType).length,
    }));
    expect(counts.filter(({ values }) => values > 25)).toEqual([]);
  });
});
