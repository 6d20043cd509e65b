import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkWords, readRefusedWords } from "./refused-words.ts";
import { parseSource, ROOT } from "../sources.ts";

const GLOSSARY = "## Not these words\n\n| not | but |\n| --- | --- |\n| rim, verdict | layer |\n";
const complaints = (code: string, path = "apps/broker/src/a.ts"): string[] =>
  checkWords([parseSource(path, code)], GLOSSARY).map(({ message }) => message);

describe("words that the glossary refuses", () => {
  it("are found in any name, as whole words", () => {
    expect(complaints("export const rim = 1;")).toEqual(["rim: not rim but layer"]);
    expect(complaints("export const isVerdictOf = 1;")).toEqual(["isVerdictOf: not verdict but layer"]);
    expect(complaints("export const VERDICT_SECONDS = 1;")).toHaveLength(1);
    expect(complaints("export const a = { theRim: 1 };")).toHaveLength(1);
    expect(complaints("export const primary = 1;")).toEqual([]);
    expect(complaints("export const rim = 1;", "apps/broker/src/a.test.ts")).toEqual([]);
    expect(() => checkWords([], "no table")).toThrow("has no table");
  });

  it("are found in comments, of tests too, unless they are quoted", () => {
    expect(complaints("// The rim of it", "apps/broker/src/a.test.ts")).toEqual(["comment: not rim but layer"]);
    expect(complaints("/**\n * Its verdict\n */")).toEqual(["comment: not verdict but layer"]);
    expect(complaints('//= rim#1\n// `rim` and "rim" are quoted, primary is another word')).toEqual([]);
  });

  it("may be phrases", () => {
    const glossary = GLOSSARY.replace("verdict", "in place of");
    const messages = (text: string): string[] =>
      checkWords([parseSource("apps/broker/src/a.ts", text)], glossary).map(({ message }) => message);
    expect(messages("// A key in place of a secret")).toEqual(["comment: not in place of but layer"]);
    expect(messages("// A key in the place of a secret, in placement of")).toEqual([]);
  });

  it("are those of the glossary", () => {
    const glossary = readFileSync(join(ROOT, "docs/glossary.md"), "utf8");
    expect(readRefusedWords(glossary).get("rim")).toBe("HTTP layer, `http/`");
  });
});
