import { describe, expect, it } from "vitest";
import { checkFileMentions } from "./file-mentions.ts";

const PATHS = new Set(["packages/a/src/one.ts", "packages/a/src/deep/two.ts", "packages/b/src/three.ts"]);
const missing = (text: string): string[] =>
  checkFileMentions(new Map([["packages/a/src/one.ts", text]]), PATHS).map(
    ({ line, message }) => `${line}: ${message}`,
  );

describe("a comment", () => {
  it("may name a file of its workspace, or any by its folder", () => {
    expect(missing("// see two.ts, deep/two.ts, ./deep/two.ts, b/src/three.ts and dist/main.mjs\n")).toEqual([]);
  });

  it.each([
    ["no file", "/**\n * Before it: gone.ts.\n */", "2: gone.ts does not exist"],
    ["a file of another workspace by its name alone", "const a = 1; // three.ts", "1: three.ts does not exist"],
    ["another folder", "\n// flat/two.ts", "2: flat/two.ts does not exist"],
  ])("may not name %s", (_, text, problem) => {
    expect(missing(text)).toEqual([problem]);
  });

  it("is not a string", () => {
    expect(missing('import "./gone.ts"; const a = "https://a/gone.ts";')).toEqual([]);
  });
});
