import { describe, expect, it } from "vitest";
import { checkDecisions, readDecisions, renderDecisions } from "./decisions.ts";

const PAGE = "# 0002 Two\n\n- Date: 2026-11-26\n- Status: accepted\n- Merged: 0001, 0000\n\nText.\n";
const read = (text: string) => readDecisions(new Map([["docs/decisions/0002-two.md", text]]));
const complaints = (path: string, text: string): string[] => checkDecisions(read(PAGE), new Map([[path, text]]));

describe("the index of decisions", () => {
  it("has a row for each page, with the numbers of those that were merged into it", () => {
    const row = "| [0002](0002-two.md) | Two | 2026-11-26 | accepted | 0001, 0000 |\n";
    expect(renderDecisions(read(PAGE))).toContain(`\n${row}`);
  });

  it("passes over what is no decision", () => {
    expect(readDecisions(new Map([["docs/decisions/README.md", "# Decisions\n"]]))).toEqual([]);
  });
});

describe("the check of decisions", () => {
  it("refuses a page without date or status, and a number that is there twice", () => {
    expect(checkDecisions(read("# 0002 Two\n\n- Date: 2026-11-26\n"), new Map())).toEqual([
      "docs/decisions/0002-two.md begins with '# NNNN Title', '- Date: YYYY-MM-DD' and '- Status: accepted'",
    ]);
    expect(checkDecisions([...read(PAGE), ...read(PAGE)], new Map())).toContain(
      "docs/decisions has the number 0002 twice",
    );
  });

  it("refuses a link or a number that leads to no page, in pages and in comments", () => {
    expect(complaints("docs/x.md", "[a](decisions/0001-one.md) [b](decisions/0002-two.md)")).toEqual([
      "docs/x.md links docs/decisions/0001-one.md, which does not exist",
    ]);
    expect(complaints("docs/decisions/0002-two.md", "[a](0001-one.md)")).toHaveLength(1);
    expect(complaints("a.ts", "// decision\n// 0001, decision 0002\n * decision\n * 0003")).toEqual([
      "a.ts cites decision 0001, which is merged into 0002",
      "a.ts cites decision 0003, which is no page",
    ]);
    expect(complaints("a.ts", "// (docs/decisions/0001, docs/decisions/0002)")).toEqual([
      "a.ts cites decision 0001, which is merged into 0002",
    ]);
  });
});
