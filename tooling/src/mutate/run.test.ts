/**
 * The tool itself can fail: a mutation that changes nothing survives. Runs on a workspace of two
 * files, in its own folder.
 */
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, volume } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ROOT } from "../sources.ts";
import type { Mutation } from "./mutation.ts";
import { parseMutateCommand } from "./options.ts";
import { runMutations } from "./run.ts";

const SOURCE = `export function isAllowed(age: number): boolean {
  if (age < 18) return false;
  return true;
}
`;
const TEST = `import { expect, it } from "vitest";
import { isAllowed } from "./door.ts";
it("lets no child in", () => expect(isAllowed(17)).toBe(false));
it("lets adults in", () => expect(isAllowed(18)).toBe(true));
`;
/** Fails without the defence, but as a twin it does not count. */
const TWIN_ONLY = `import { expect, it } from "vitest";
import { isAllowed } from "./door.ts";
it("twin: a child is in", () => expect(isAllowed(17)).toBe(false));
it("is there", () => expect(isAllowed(18)).toBe(true));
`;

const door = (over: Partial<Mutation>): Mutation => ({
  defence: "Children stay out",
  file: "packages/door/src/door.ts",
  find: "if (age < 18) return false;",
  replace: "if (age < 0) return false;",
  tests: ["packages/door/src/door.test.ts"],
  ...over,
});

let root: string;
let lines: string[];

beforeEach(() => {
  lines = [];
  root = realpathSync(temporaryFolder());
  const files = {
    "package.json": "{}",
    "packages/door/package.json": '{ "type": "module" }',
    "packages/door/tsconfig.json": JSON.stringify({ extends: join(ROOT, "tsconfig.base.json"), include: ["src"] }),
    "packages/door/src/door.ts": SOURCE,
    "packages/door/src/door.test.ts": TEST,
    "packages/door/src/twin-only.test.ts": TWIN_ONLY,
  };
  mkdirSync(join(root, "packages/door/src"), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"), "junction");
  symlinkSync(join(ROOT, "tooling/node_modules"), join(root, "packages/door/node_modules"), "junction");
});

const run = (...mutations: Mutation[]): Promise<number> =>
  runMutations(mutations, {
    root,
    jobs: 1,
    say: (line) => void lines.push(line),
    stopped: new AbortController().signal,
  });

// Each starts a compiler and a test runner.
const RUNS = volume<readonly string[]>({ test: [], soak: ["a mutation"] });
describe.each(RUNS)("%s", () => {
  it("is noticed where a test fails without the defence", async () => {
    expect(await run(door({}))).toBe(0);
    expect(lines.at(-1)).toBe("1 defence, 0 survivors");
    expect(lines.join("\n")).toContain("        packages/door/src/door.test.ts: lets no child in");
    expect(readFileSync(join(root, "packages/door/src/door.ts"), "utf8")).toBe(SOURCE);
  });

  it("survives when it changes nothing, and when only a twin fails", async () => {
    const nothing = door({ defence: "Nothing changes", replace: "if (age <= 17) return false;" });
    const onlyTwin = door({ defence: "Only the twin fails", tests: ["packages/door/src/twin-only.test.ts"] });
    expect(await run(nothing, onlyTwin)).toBe(2);
    expect(lines.filter((line) => line.includes("SURVIVED"))).toHaveLength(2);
  });

  it("by rule is noticed by one of the tests that were found, or survives", async () => {
    const tests = ["packages/door/src/twin-only.test.ts", "packages/door/src/door.test.ts"];
    const byRule = { byRule: true, isOneEnough: true, replace: "void (age satisfies string);" };
    expect(await run(door({ ...byRule, tests }))).toBe(0);
    expect(lines.join("\n")).toContain("        packages/door/src/door.test.ts: lets no child in");
    expect(await run(door({ ...byRule, tests: tests.slice(0, 1) }))).toBe(1);
  });

  it("counts as a survivor where it does not compile, or its text is not there once", async () => {
    const broken = door({ defence: "Does not compile", replace: "if (ages < 0) return false;" });
    expect(await run(broken, door({ defence: "Is not there", find: "return" }))).toBe(2);
    expect(lines.join("\n")).toMatch(/does not compile: [^]*ages[^]*occurs 2 times/);
  });

  it("is not tried when the tests fail without it", async () => {
    writeFileSync(join(root, "packages/door/src/door.test.ts"), TEST.replace("isAllowed(18)", "isAllowed(1)"));
    expect(await run(door({}))).toBe(1);
    expect(lines.at(-1)).toContain("Tests fail without any mutation");
  });

  it("is no survivor when the program stops before it", async () => {
    const stop = new AbortController();
    const say = (line: string): void => void (lines.push(line), line.startsWith("ok") && stop.abort());
    const given = [door({}), door({ defence: "Not begun" })];
    expect(await runMutations(given, { root, jobs: 1, say, stopped: stop.signal })).toBe(2);
    expect(lines.at(-1)).toBe("2 defences, 0 survivors, 2 not tried");
  });

  it("leaves no copy behind", async () => {
    const temporary = temporaryFolder();
    vi.stubEnv("TMPDIR", temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    await run(door({ find: "nowhere" }));
    expect(readdirSync(temporary).filter((name) => name.startsWith("oauth-broker"))).toEqual([]);
  });
});

describe("the command line", () => {
  it("takes a pattern and a number", () => {
    expect(parseMutateCommand(["--only", "pkce", "--jobs", "3"])).toEqual({
      list: false,
      only: /pkce/i,
      jobs: 3,
    });
    expect(parseMutateCommand(["--list"])).toMatchObject({ list: true });
    expect(parseMutateCommand(["-h"])).toMatchObject({ stream: "stdout", exitCode: 0 });
  });

  it.each([[["--jobs", "0"]], [["--only", "("]], [["--what"]], [["x"]]])("refuses %j", (args) => {
    expect(parseMutateCommand(args)).toMatchObject({ exitCode: 2 });
  });
});
