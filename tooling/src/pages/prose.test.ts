import { describe, expect, it } from "vitest";
import { checkProse, readPages, wrapProse } from "./prose.ts";

const GLOSSARY = "## Not these words\n\n| not | but |\n| --- | --- |\n| rim, told | layer |\n";
const complaints = (page: string, path = "docs/x.md"): string[] => checkProse(new Map([[path, page]]), GLOSSARY);
const words = (count: number): string => Array.from({ length: count }, () => "four").join(" ");
const widest = (text: string): number => Math.max(...text.split("\n").map((line) => Array.from(line).length));

describe("the prose of a page", () => {
  it("is wrapped at 100 columns, and then stays as it is", () => {
    const wrapped = wrapProse(`# Title\n\n${words(60)}\n${words(3)}\n\nShort.\n`);
    expect(widest(wrapped)).toBeLessThanOrEqual(100);
    expect(wrapped.replace(/\s+/g, " ")).toBe(`# Title ${words(63)} Short. `);
    expect(wrapProse(wrapped)).toBe(wrapped);
  });

  it("keeps the lines of a paragraph that is narrow enough", () => {
    const page = "One.\nTwo.\n\n- three\n- four\n";
    expect(wrapProse(page)).toBe(page);
  });

  it("indents what follows of a list item", () => {
    expect(wrapProse(`- ${words(25)}\n  - ${words(25)}\n1. ${words(25)}`)).toBe(
      [
        `- ${words(19)}`,
        `  ${words(6)}`,
        `  - ${words(19)}`,
        `    ${words(6)}`,
        `1. ${words(19)}`,
        `   ${words(6)}`,
      ].join("\n"),
    );
  });

  it("is not broken within backticks, nor before what would begin a list or a heading", () => {
    expect(wrapProse(`${words(19)} \`in one piece\``)).toBe(`${words(19)}\n\`in one piece\``);
    for (const mark of ["-", "#", "504)", "<br>", "| x"]) {
      expect(wrapProse(`${words(20)} ${mark} four`)).toBe(`${words(19)}\nfour ${mark} four`);
    }
  });

  it.each([
    ["a table", `| ${words(30)} |`],
    ["a heading", `# ${words(30)}`],
    ["a code block", `\`\`\`\n${words(30)}\n- ${words(30)}\n\`\`\``],
    ["what has no space", `[x](https://example.com/${"a".repeat(100)})`],
  ])("may be wider in %s", (_, page) => {
    expect(complaints(page)).toEqual([]);
  });

  it("is reported by the first line of its paragraph", () => {
    expect(complaints(`# Title\n\nShort.\n${words(30)}\n`)).toEqual([
      "docs/x.md:3 is wider than 100 columns: npm run docs wraps it",
    ]);
  });

  it("does not use the words that the glossary refuses", () => {
    const page = "# A rim\n\n| Told |\n\nHe was retold: `rim`, [a](rim.md).\n\n```\nrim\n```\n";
    expect(complaints(page)).toEqual(["docs/x.md:1: not rim but layer", "docs/x.md:3: not told but layer"]);
  });

  it("may quote them in the glossary and where it is generated", () => {
    expect(complaints("A rim.", "docs/glossary.md")).toEqual([]);
    expect(complaints("<!-- Generated. -->\n\nA rim.")).toEqual([]);
  });
});

it("every page of this repository is found", () => {
  const paths = [...readPages().keys()];
  expect(paths).toEqual(expect.arrayContaining(["README.md", "docs/api.md", "docs/decisions/0001-toolchain.md"]));
  expect(paths.filter((path) => path.includes("node_modules"))).toEqual([]);
});

it("README.md is a page to read in one sitting: at most 80 lines", () => {
  expect((readPages().get("README.md") ?? "").split("\n").length - 1).toBeLessThanOrEqual(80);
});
