import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { patience, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, expect, it, vi } from "vitest";
import { runDev } from "./run-dev.ts";

let folder: string;
beforeEach(() => {
  folder = join(temporaryFolder(), "mcp dev");
  mkdirSync(folder);
});

function dev(args: readonly string[] = [], node: readonly string[] = []) {
  const command = [...node, join(import.meta.dirname, "main.ts"), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8" });
  return { status, stdout, stderr };
}

const failure = (status: number, message: unknown) => ({ status, stdout: "", stderr: message });

it("mcp-dev says what keeps it from starting", () => {
  expect(dev()).toEqual(failure(1, expect.stringMatching(/^There is no service.yaml here[^\n]*\n$/)));
});

it("mcp-dev leaves nothing running when no one reads it any more", async () => {
  const own = "VENDOR: github, VENDOR_CLIENT_ID: ours, VENDOR_CLIENT_SECRET: a-secret";
  writeFileSync(join(folder, "service.yaml"), `name: a\nenvironment: { OAUTH_MODE: hosted, ${own} }\n`);
  mkdirSync(join(folder, "src"));
  const main = "setInterval(() => console.log(JSON.stringify({ watcher: process.ppid })), 20);";
  writeFileSync(join(folder, "src", "main.ts"), main);
  const run = spawn(process.execPath, [join(import.meta.dirname, "main.ts")], { cwd: folder });
  const [line] = (await once(createInterface({ input: run.stdout }), "line")) as [string];
  const { watcher } = JSON.parse(line) as { watcher: number };
  run.stdout.destroy();
  await once(run, "exit");
  await vi.waitFor(() => expect(() => process.kill(watcher, 0)).toThrow("ESRCH"), patience(10_000));
});

it.each([
  ["mode: hosted\n", [], /^service.yaml needs a name$/],
  ["name: a\n", [], /^There is no src.main.ts here/],
  ["name: a\nenvironment: { OAUTH_MODE: both, VENDOR: github }\n", ["main.ts"], /OAUTH_MODE/],
])("runDev refuses %j with %j in src before it starts anything", async (text, files, message) => {
  writeFileSync(join(folder, "service.yaml"), text);
  mkdirSync(join(folder, "src"));
  for (const file of files) writeFileSync(join(folder, "src", file), "");
  const before = process.cwd();
  process.chdir(folder);
  try {
    const none = (): never => expect.unreachable();
    await expect(runDev({}, { print: none, say: none })).rejects.toThrow(message);
  } finally {
    process.chdir(before);
  }
});

it("mcp-dev refuses an old Node.js, before anything is loaded that needs a newer one", () => {
  const old = `Object.defineProperty(process.versions, "node", { value: "20.20.2" });`;
  const { status, stderr } = dev([], ["--import", `data:text/javascript,${encodeURIComponent(old)}`]);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^mcp-dev needs Node.js 24.15 or newer, and this is 20.20.2: install one [^\n]+\n$/),
  });
});

// That -h and -v are the same, and what else is refused: tests of the function all commands share.
it("mcp-dev refuses arguments it does not have", () => {
  expect(dev(["--watch"])).toEqual(failure(2, "mcp-dev: Unknown option '--watch'.\nRun 'mcp-dev --help'.\n"));
});

it("mcp-dev --help answers on stdout, and does nothing else", () => {
  const help = expect.stringMatching(/^Usage: mcp-dev\n[^]*-h, --help[^]*-v, --version/);
  expect(dev(["--help"])).toEqual({ status: 0, stdout: help, stderr: "" });
});
