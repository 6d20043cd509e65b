import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../sources.ts";
import { checkSnippets } from "./conventions.ts";

const read = (path: string): string | undefined => (path === "a.ts" ? "  one();\n  two();\n  three();\n" : undefined);
const check = (snippet: string): string[] => checkSnippets(`Text.\n\n\`\`\`ts\n${snippet}\n\`\`\`\n`, read);

describe("a snippet of CONVENTIONS.md", () => {
  it("is in the file that its first line names, lines left out or not", () => {
    expect(check("// a.ts\none();\ntwo();")).toEqual([]);
    expect(check("// a.ts\none();\n…\nthree();")).toEqual([]);
  });

  it.each([
    ["another line", "// a.ts\none();\nthree();", "a.ts does not have 'one();' as quoted"],
    ["another order", "// a.ts\nthree();\n…\none();", "a.ts does not have 'one();' as quoted"],
    ["no file", "// b.ts\none();", "b.ts does not exist"],
    ["no path", "one();", "a snippet begins with 'one();', not with the path of its file"],
  ])("is refused with %s", (_, snippet, problem) => {
    expect(check(snippet)).toEqual([`CONVENTIONS.md: ${problem}`]);
  });
});

it("CONVENTIONS.md quotes this repository", () => {
  const page = readFileSync(join(ROOT, "CONVENTIONS.md"), "utf8");
  expect(page.split("```ts").length).toBeGreaterThan(5);
  const readFile = (path: string): string | undefined =>
    existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : undefined;
  expect(checkSnippets(page, readFile)).toEqual([]);
});
