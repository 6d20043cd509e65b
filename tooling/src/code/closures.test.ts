import { expect, it } from "vitest";
import { checkClosures, FIRST_MARK, LAST_MARK, measureLegs, renderClosures, withClosures } from "./closures.ts";
import { parseSource } from "../sources.ts";

const ENTRIES = new Map([["@x/core", "packages/core/src/index.ts"]]);
const FILES = [
  parseSource("apps/a/src/leg.ts", `import { one } from "@x/core";\nimport type { two } from "@x/core";\none();\n`),
  parseSource("packages/core/src/index.ts", `export { one } from "./one.ts";\nexport { two } from "./two.ts";\n`),
  parseSource("packages/core/src/one.ts", `import { three } from "./three.ts";\nexport const one = three;\n`),
  parseSource("packages/core/src/two.ts", "export const two = 2;\n"),
  parseSource(
    "packages/core/src/three.ts",
    `import { out } from "../../oauth-core/src/egress/out.ts";\nexport const three = out;\n`,
  ),
  parseSource("packages/oauth-core/src/egress/out.ts", "export const out = 3;\n"),
];

it("counts the files that are reached by values, to where a name is declared, egress apart", () => {
  const legs = [{ name: "leg", start: "apps/a/src/leg.ts" }];
  // The leg, one and three: without the index, without what is imported as a type, and without
  // egress.
  expect(renderClosures(measureLegs(FILES, ENTRIES, legs))).toContain("| leg | `apps/a/src/leg.ts` | 3 | 7 |");
  expect(() => measureLegs(FILES, ENTRIES, [{ name: "gone", start: "gone.ts" }])).toThrow("gone.ts does not exist");
});

it("is written between the marks of the page", () => {
  const page = `before\n${FIRST_MARK}\nold\n${LAST_MARK}\nafter\n`;
  expect(withClosures(page, "new")).toBe("before\nnew\nafter\n");
  expect(withClosures("no marks", "new")).toBe("no marks");
});

it("counts what a leg runs on once, and refuses a leg that is too long to read", () => {
  const leg = { name: "leg", start: "apps/a/src/leg.ts", runsOn: "packages/core/src/one.ts" };
  expect(renderClosures(measureLegs(FILES, ENTRIES, [leg]))).toContain("| leg | `apps/a/src/leg.ts` | 3 | 7 |");
  const two = { ...leg, runsOn: "packages/core/src/two.ts" };
  expect(renderClosures(measureLegs(FILES, ENTRIES, [two]))).toContain("| leg | `apps/a/src/leg.ts` | 4 | 8 |");
  expect(checkClosures(measureLegs(FILES, ENTRIES, [two]))).toEqual([]);
  const long = parseSource("packages/core/src/two.ts", "// line\n".repeat(6_300));
  const files = FILES.map((file) => (file.path === long.path ? long : file));
  expect(checkClosures(measureLegs(files, ENTRIES, [two]))).toEqual([
    "apps/a/src/leg.ts: reaches 4 files with 6307 lines; a leg has at most 50 and 6300",
  ]);
});
