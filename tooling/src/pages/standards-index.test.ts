import { describe, expect, it } from "vitest";
import { parseSource } from "../sources.ts";
import { checkStandards, indexStandards, renderStandards } from "./standards-index.ts";

const CODE = parseSource(
  "packages/a/src/pkce.ts",
  `
//= rfc7636#4.6
export function verifyCodeVerifier() {
  const before = 1;
  //= bar#CB-6
  return before;
}
//= rfc6749#10.10
//= rfc6749#4.1.2.1
export const createFlowId = () => 1;
`,
);
const testFile = (code: string): ReturnType<typeof parseSource> => parseSource("packages/a/src/pkce.test.ts", code);
const TITLES = 'it("rfc7636#4.6 refuses", () => {}); it.each([[1]])("bar#CB-6 %s", () => {});';
const ALL_TITLES = `${TITLES} describe("rfc6749#10.10 and rfc6749#4.1.2.1", () => {});`;

describe("the index", () => {
  it("finds the declaration around or below a citation, in numeric order", () => {
    expect([...indexStandards([CODE]).cited]).toEqual([
      ["bar#CB-6", ["packages/a/src/pkce.ts verifyCodeVerifier"]],
      ["rfc6749#4.1.2.1", ["packages/a/src/pkce.ts createFlowId"]],
      ["rfc6749#10.10", ["packages/a/src/pkce.ts createFlowId"]],
      ["rfc7636#4.6", ["packages/a/src/pkce.ts verifyCodeVerifier"]],
    ]);
  });

  it("reads tokens from titles only, whole ones", () => {
    const { proved } = indexStandards([
      testFile(
        `${ALL_TITLES} it(\`mcp-2026-07-28/authorization#token-handling \${1}\`, () => {}); const text = "rfc1#1"; it("fixes (#41)", f);`,
      ),
    ]);
    expect([...proved.keys()]).toEqual([
      "bar#CB-6",
      "mcp-2026-07-28/authorization#token-handling",
      "rfc6749#4.1.2.1",
      "rfc6749#10.10",
      "rfc7636#4.6",
    ]);
  });

  it("reads the tokens of a table's rows, scripted attacks, and which tests are twins", () => {
    const { proved, twins } = indexStandards([
      testFile(
        `it.each([["bar#EG-7 a port", {}], ["bar#EG-8 a size"]])("%s", f); it("X-2 twin: sent", f); it("V-3 a", f);`,
      ),
    ]);
    expect([...proved.keys()]).toEqual(["bar#EG-7", "bar#EG-8", "bar#ID-1", "bar#X-2"]);
    expect([...twins.keys()]).toEqual(["bar#X-2"]);
  });

  it("does not take citations in tests for enforcement", () => {
    expect(indexStandards([testFile("//= rfc7636#4.6\nf();")]).cited.size).toBe(0);
  });
});

describe("the check", () => {
  it("passes when every cited section has a test", () => {
    expect(checkStandards(indexStandards([CODE, testFile(ALL_TITLES)]), "")).toEqual([]);
  });

  it("fails for a section without one; a longer or shorter number is another section", () => {
    const titles = `${TITLES} it("rfc6749#10.10 x", f); it("rfc6749#4.1.2 x", f); it("rfc6749#4.1.2.10 x", f);`;
    expect(checkStandards(indexStandards([CODE, testFile(titles)]), "")).toEqual([
      "rfc6749#4.1.2.1 is cited in packages/a/src/pkce.ts createFlowId but no test title carries it",
    ]);
  });

  it("accepts sections named in docs/exceptions.md", () => {
    const exceptions = "| `rfc6749#10.10` | … |\n| `rfc6749#4.1.2.1` | … |";
    expect(checkStandards(indexStandards([CODE, testFile(TITLES)]), exceptions)).toEqual([]);
  });

  it("fails for a citation that names no section", () => {
    const [complaint] = checkStandards(
      indexStandards([parseSource("packages/a/src/b.ts", "//= RFC 7636, 4.6\nf();")]),
      "",
    );
    expect(complaint).toBe("packages/a/src/b.ts:1 //= RFC 7636, 4.6 is not a citation: write name#section");
  });
});

describe("the page", () => {
  const page = renderStandards(indexStandards([CODE, testFile(`${TITLES} it("bar#XA-1 x", f);`)]));

  it("says on line 1 how to remake it", () => {
    expect(page.split("\n")[0]).toBe("<!-- Generated. Remake: npm run docs -->");
  });

  it("names section, place and proof", () => {
    expect(page).toContain(
      "| [rfc7636#4.6](https://www.rfc-editor.org/rfc/rfc7636#section-4.6) | [a/pkce.ts](../packages/a/src/pkce.ts) `verifyCodeVerifier` | [a/pkce.test.ts](../packages/a/src/pkce.test.ts) |",
    );
  });

  it("lists what tests prove without a citation", () => {
    expect(page.split("## Proved without a citation")[1]).toContain("| `bar#XA-1` |");
  });
});
