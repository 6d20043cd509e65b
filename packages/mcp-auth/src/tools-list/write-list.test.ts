import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeToolsList } from "./write-list.ts";

const MAIN = join(import.meta.dirname, "main.ts");
let project: string;
let folder: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "mcp tools "));
  folder = join(project, "src", "tools");
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const add = (file: string, text: string): void => writeFileSync(join(folder, file), text);
const list = (): string => readFileSync(join(folder, "index.ts"), "utf8");
const tool = (name: string): string => `export const ${name} = defineTool({});\n`;

describe("the list of tools", () => {
  it("has every file of the folder but itself and tests, by name", () => {
    add("whoami.ts", tool("whoami"));
    add("list-2-pages.ts", "const list2Pages = 1;\nexport { other, list2Pages };\n");
    add("whoami.test.ts", "");
    add("notes.md", "");
    expect(writeToolsList(folder)).toBe("written");
    expect(list().split("\n").slice(1)).toEqual([
      'import { list2Pages } from "./list-2-pages.ts";',
      'import { whoami } from "./whoami.ts";',
      "",
      "export const tools = [list2Pages, whoami];",
      "",
    ]);
  });

  it("is the template's own, byte for byte", () => {
    const template = join(import.meta.dirname, "../../../../apps/mcp-template/src/tools");
    expect(writeToolsList(template, { check: true })).toBe("unchanged");
  });

  it("is not touched where it is right already", () => {
    add("whoami.ts", tool("whoami"));
    writeToolsList(folder);
    utimesSync(join(folder, "index.ts"), 1, 1);
    expect(writeToolsList(folder)).toBe("unchanged");
    expect(statSync(join(folder, "index.ts")).mtimeMs).toBe(1000);
  });

  it("breaks a long list as the formatter does", () => {
    for (let index = 0; index < 20; index += 1) add(`tool-${index}.ts`, tool(`tool${index}`));
    writeToolsList(folder);
    expect(list()).toContain("export const tools = [\n  tool0,\n");
  });

  it("names every file that is not a tool, and what to write there", () => {
    add("list-pages.ts", "// export const listPages = 1;\nexport const listpages = 1;\n");
    add("List.ts", "");
    add("delete.ts", "");
    add("whoami.ts", tool("whoami"));
    expect(() => writeToolsList(folder)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(
          /List\.ts: name it in lower case.*\n.*delete\.ts: delete cannot be.*\n.*has no export called listPages\. Write: export const listPages/,
        ),
      }),
    );
  });

  it("wants a tool, and a folder", () => {
    expect(() => writeToolsList(folder)).toThrow(/has no tool: add a file such as/);
    expect(() => writeToolsList(join(folder, "none"))).toThrow(/There is no folder/);
  });
});

describe("mcp-tools", () => {
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd: project, encoding: "utf8" });
    return { status, said: stdout + stderr };
  };

  it("writes, and with --check only reports", () => {
    add("whoami.ts", tool("whoami"));
    expect(run("--check")).toEqual({ status: 1, said: expect.stringContaining("run mcp-tools") });
    expect(run()).toEqual({ status: 0, said: expect.stringContaining("has been updated") });
    expect(run("--check")).toEqual({ status: 0, said: "" });
    expect(run()).toEqual({ status: 0, said: "" });
  });

  it("refuses what it does not know", () => {
    expect(run("--fix")).toEqual({ status: 2, said: expect.stringContaining("Usage: mcp-tools [--check]") });
    expect(run("--check", "x").status).toBe(2);
  });

  it("reports in a line what is wrong", () => {
    expect(run()).toEqual({ status: 1, said: expect.stringMatching(/^[^\n]*has no tool[^\n]*\n$/) });
  });
});
