/**
 * Every command that an npm script starts: help, the version, and exit code 2 with a hint
 * for what is not understood, before anything is done. What is passed on to another tool (turbo,
 * changesets, the formatter) is that tool's.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../support/paths.ts";
import { temporaryFolder } from "../../support/service-process.ts";

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** Each script, with the words after `node`: options of Node, the file, its arguments. */
const COMMANDS = Object.entries(scripts).flatMap(([name, command]) => {
  const [, watched = "", started = ""] = /^node scripts\/bootstrap\.mjs node (--watch\S* )*(\S.*)$/.exec(command) ?? [];
  return started === "" || watched !== "" ? [] : [[name, started.split(" ")] as const];
});

/** Those of users; the others are for contributors. */
const OF_USERS = ["start", "platform", "create-server", "token-store", "vendor"];
/** Their options are turbo's. */
const PASSES_ON = ["test", "test:soak"];
const IN_SOAK = volume({ test: false, soak: true });

const VERSION = /^\d+\.\d+\.\d+\n$/;
const HELP = /^Usage: [^]*-h, --help[^]*-v, --version/;

async function run(command: readonly string[], ...args: string[]) {
  const folder = temporaryFolder();
  const started = command.map((word) => (/\.(ts|mjs)$/.test(word) ? join(ROOT, word) : word));
  const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  const child = spawn(process.execPath, [...started, ...args], { cwd: folder, env });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr, left: readdirSync(folder) };
}

it("are these", () => {
  const names = COMMANDS.map(([name]) => name);
  expect(names).toEqual(expect.arrayContaining([...OF_USERS, "check", "bench", "mutate", "docs"]));
  expect(names.length).toBeGreaterThan(15);
});

/** All read their options by the same function, and what answers them is tested beside each. */
const TESTED = COMMANDS.filter(([name]) => IN_SOAK || name === "start");
/** The version is another case of the answer that is help. */
const asked = (name: string): string[] =>
  IN_SOAK ? ["--help", ...(OF_USERS.includes(name) ? ["--version"] : [])] : [];

describe.each(TESTED)("npm run %s", (name, command) => {
  it.each(asked(name))("%s answers on stdout, and does nothing else", async (option) => {
    const { code, stdout, stderr, left } = await run(command, option);
    expect({ code, stderr, left }).toEqual({ code: 0, stderr: "", left: [] });
    expect(stdout).toMatch(option === "--version" ? VERSION : HELP);
  });

  if (PASSES_ON.includes(name)) return;
  it("refuses an option there is not, with a hint", async () => {
    const { code, stdout, stderr, left } = await run(command, "--nonsense");
    expect({ code, stdout, left }).toEqual({ code: 2, stdout: "", left: [] });
    expect(stderr).toMatch(/Unknown option '--nonsense'.*\nRun '.*--help'/);
  });
});
