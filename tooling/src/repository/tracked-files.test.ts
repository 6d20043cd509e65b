import { describe, expect, it } from "vitest";
import { checkTrackedFile } from "./tracked-files.ts";

const rules = (path: string, text: string): string[] =>
  checkTrackedFile(path, Buffer.from(text)).map(({ rule }) => rule);

// Split into pieces, so that this file obeys the rules it tests.
const ONLY = "on" + "ly";
const MARK = "TO" + "DO";

describe("tracked files", () => {
  it.each([
    ["no focused or skipped tests", "a/b.test.ts", `it.${ONLY}("x", () => {});`],
    ["no focused or skipped tests", "a/b.test.ts", `describe.${"sk" + "ip"}("x", () => {});`],
    ["no marks left over", "a/b.ts", `// ${MARK}: later`],
    ["no marks left over", ".github/workflows/ci.yml", `# ${MARK} later`],
    ["no path of one machine", "README.md", `cd ${"/ho" + "me"}/someone/project`],
    ["no path of one machine", "a/b.ts", `const file = "${"/ro" + "ot"}/x";`],
    ["no address of a package registry", "pnpm-lock.yaml", `tarball: ${"https://registry" + ".example.org"}/x.tgz`],
    ["no address of a package registry", "docs/a.md", `${"http://npm" + ".internal.example"}:4873/`],
  ])("%s: %s", (rule, path, text) => {
    expect(rules(path, `first line\n${text}\n`)).toEqual([rule]);
  });

  it.each([
    ["a/b.test.ts", `it.skipIf(browser === undefined)("x", () => {});`],
    ["docs/a.md", `Write ${MARK} lists elsewhere.`],
    ["a/b.ts", `app.get("/oauth${"/ho" + "me"}/settings");`],
    ["docs/a.md", "[the registry](https://www.iana.org/assignments/oauth-parameters)"],
  ])("permits %s: %s", (path, text) => {
    expect(rules(path, text)).toEqual([]);
  });

  it("refuses files over 1 MiB and does not read binary ones", () => {
    expect(rules("a.bin", "a".repeat(1024 * 1024 + 1))).toEqual(["no huge files"]);
    expect(rules("a.ts", `\0 ${MARK}`)).toEqual([]);
  });
});
