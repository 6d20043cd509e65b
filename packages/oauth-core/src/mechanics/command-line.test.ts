import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { type Given, noSuchCommand, readCommand } from "./command-line.ts";

const OPTIONS = {
  json: { type: "boolean", default: false },
  rate: { type: "string" },
  head: { type: "string", multiple: true },
} as const;
const ABOUT = { program: "npm run bench --", help: "Usage: …\n", version: "1.2.3" };
const read = (...args: string[]) => readCommand(args, OPTIONS, { ...ABOUT, words: true }, (given) => given);
const refused = (problem: string) => ({
  stream: "stderr",
  text: `bench: ${problem.endsWith("?") ? problem : `${problem}.`}\nRun 'npm run bench -- --help'.`,
  exitCode: 2,
});

describe("readCommand", () => {
  it("returns values and words", () => {
    expect(read("audit", "--rate", "5", "--head=a", "--head", "b", "--", "-x")).toEqual({
      values: { json: false, rate: "5", head: ["a", "b"] },
      words: ["audit", "-x"],
    });
  });

  it.each([
    [["--help"], "Usage: …"],
    [["-h"], "Usage: …"],
    [["audit", "-h"], "Usage: …"],
    [["-vh"], "Usage: …"],
    [["--version"], "1.2.3"],
    [["-v"], "1.2.3"],
    [["audit", "--json", "-v"], "1.2.3"],
  ])("%j is answered by %s", (args, text) => {
    expect(read(...args)).toEqual({ stream: "stdout", text, exitCode: 0 });
  });

  it.each([
    [["--jsn"], "Unknown option '--jsn': did you mean --json?"],
    [["--nonsense"], "Unknown option '--nonsense'"],
    [["-x"], "Unknown option '-x'"],
    [["--help", "--nonsense"], "Unknown option '--nonsense'"],
    [["--vers"], "Unknown option '--vers'"],
    [["--versoin"], "Unknown option '--versoin': did you mean --version?"],
    [["--rate"], "Option '--rate <value>' argument missing"],
    [["--json=yes"], "Option '--json' does not take an argument"],
    [["--rate", "1", "--rate", "2"], "--rate is given twice"],
  ])("%j is refused, and nothing of it is read", (args, problem) => {
    expect(read(...args)).toEqual(refused(problem));
  });

  it("throws a mistake of the program itself, which its user cannot mend", () => {
    const understand = (): never => {
      throw new TypeError("x is not a function");
    };
    expect(() => readCommand(["audit"], OPTIONS, { ...ABOUT, words: true }, understand)).toThrow(TypeError);
  });

  it("takes no words unless there are commands", () => {
    expect(readCommand(["now"], OPTIONS, ABOUT, (given) => given)).toEqual(refused("'now' is one word too many"));
  });

  it.each([
    [["audit", "x"], { words: ["audit", "x"], values: { json: false } }],
    [["help"], { stream: "stdout", text: "Usage: …", exitCode: 0 }],
    [["audi"], refused("there is no command 'audi': did you mean audit?")],
    [[], refused("a command is missing")],
  ])("of the commands it has, and help, %j is understood, or refused with the reason", (args, expected) => {
    const understand = (given: Given<typeof OPTIONS>) => {
      if (given.words.length === 0) throw new Error("a command is missing");
      return given;
    };
    expect(readCommand(args, OPTIONS, { ...ABOUT, commands: ["audit"] }, understand)).toEqual(expected);
  });
});

it("noSuchCommand names the one that was probably meant", () => {
  expect(noSuchCommand("srve", ["serve", "check"])).toBe("there is no command 'srve': did you mean serve?");
  expect(noSuchCommand("x".repeat(50), ["serve"])).toBe(`there is no command '${"x".repeat(40)}'`);
});

it.each([
  ["that cannot be written is a failure", openSync(import.meta.filename, "r"), 1, /^EBADF: .*, write\n$/],
  ["whose reader is gone is none", "pipe" as const, 0, /^$/],
])("a stdout %s, without a stack", async (_, stdout, exitCode, said) => {
  const child = run(`for await (const _ of process.stdin); TERMINAL.print("a result"); process.exitCode = 0;`, stdout);
  child.stdout?.destroy();
  child.stdin?.end();
  const stderr = child.stderr === null ? "" : text(child.stderr);
  expect([...(await once(child, "close")), await stderr]).toEqual([exitCode, null, expect.stringMatching(said)]);
});

it.each([
  ["stops the work once", "", [0, null]],
  ["and another later ends the process", "performance.now = () => 9e9;", [143, null]],
])("a signal that npm passes on %s", async (_, between, ended) => {
  const child = run(`setInterval(() => {}, 50); const code = await stoppable(async (stop) => {
    for (const signal of ["SIGINT", "SIGINT", "SIGTERM"]) {
      if (signal === "SIGTERM") { ${between} }
      process.kill(process.pid, signal);
      await new Promise((wake) => process.once(signal, wake));
    }
    return stop.reason === "SIGINT" ? 0 : 1;
  }); process.exit(code);`);
  expect(await once(child, "close")).toEqual(ended);
});

function run(body: string, stdout: number | "pipe" = "pipe"): ChildProcess {
  const script = `const { stoppable, TERMINAL } = await import(${JSON.stringify(import.meta.resolve("./command-line.ts"))});`;
  return spawn(process.execPath, ["--input-type=module", "-e", script + body], { stdio: ["pipe", stdout, "pipe"] });
}
