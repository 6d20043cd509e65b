import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mcp dev "));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function dev(args: readonly string[] = [], node: readonly string[] = []) {
  const command = [...node, join(import.meta.dirname, "main.ts"), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8" });
  return { status, stdout, stderr };
}

const failure = (status: number, message: unknown) => ({ status, stdout: "", stderr: message });

describe("mcp-dev reports what keeps it from starting", () => {
  it("no service.yaml, and one without content", () => {
    expect(dev()).toEqual(failure(1, expect.stringMatching(/^There is no service.yaml here[^\n]*\n$/)));
    writeFileSync(join(folder, "service.yaml"), "mode: hosted\n");
    expect(dev()).toEqual(failure(1, "service.yaml needs a name\n"));
  });

  it("settings that a server refuses, all at once", () => {
    writeFileSync(join(folder, "service.yaml"), "name: a\nenvironment: { OAUTH_MODE: both, VENDOR: github }\n");
    expect(dev()).toEqual(failure(1, expect.stringContaining("OAUTH_MODE")));
  });

  it("an old Node.js, before anything is loaded that needs a newer one", () => {
    const old = `Object.defineProperty(process.versions, "node", { value: "20.20.2" });`;
    const { status, stderr } = dev([], ["--import", `data:text/javascript,${encodeURIComponent(old)}`]);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /^mcp-dev needs Node.js 24.15 or newer, and this is 20.20.2: install one [^\n]+\n$/,
      ),
    });
  });

  it("arguments it does not have", () => {
    expect(dev(["--watch"])).toEqual(failure(2, "mcp-dev: Unknown option '--watch'.\nRun 'mcp-dev --help'.\n"));
    expect(dev(["src"])).toEqual(failure(2, expect.stringContaining("'src' is one word too many")));
  });
});

it.each(["-h", "--help", "-v", "--version"])("mcp-dev %s answers on stdout, and does nothing else", (option) => {
  const says = option.includes("h") ? /^Usage: mcp-dev\n[^]*-h, --help[^]*-v, --version/ : /^\d+\.\d+\.\d+\n$/;
  expect(dev([option])).toEqual({ status: 0, stdout: expect.stringMatching(says), stderr: "" });
});
