import { describe, expect, it } from "vitest";
import { answerUsage, noSuchCommand, readCommandLine, usageMessage } from "./command-line.ts";

const OPTIONS = {
  json: { type: "boolean", default: false },
  rate: { type: "string" },
  head: { type: "string", multiple: true },
} as const;
const read = (...args: string[]) => readCommandLine(args, OPTIONS, { words: true });

describe("readCommandLine", () => {
  it("returns values and words", () => {
    expect(read("audit", "--rate", "5", "--head=a", "--head", "b", "--", "-x")).toEqual({
      kind: "given",
      values: { json: false, rate: "5", head: ["a", "b"] },
      words: ["audit", "-x"],
    });
  });

  it.each([
    [["--help"], "help"],
    [["-h"], "help"],
    [["audit", "-h"], "help"],
    [["-vh"], "help"],
    [["--version"], "version"],
    [["-v"], "version"],
    [["audit", "--json", "-v"], "version"],
  ])("%j asks for the %s", (args, kind) => {
    expect(read(...args)).toEqual({ kind });
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
    expect(read(...args)).toEqual({ kind: "invalid", problem });
  });

  it("takes no words unless there are commands", () => {
    expect(readCommandLine(["now"], OPTIONS)).toEqual({ kind: "invalid", problem: "'now' is one word too many" });
  });
});

it("noSuchCommand names the one that was probably meant", () => {
  expect(noSuchCommand("srve", ["serve", "check"])).toBe("there is no command 'srve': did you mean serve?");
  expect(noSuchCommand("x".repeat(50), ["serve"])).toBe(`there is no command '${"x".repeat(40)}'`);
});

it("answerUsage says it on the stream and with the exit code that scripts expect", () => {
  const about = { program: "npm run bench --", help: "Usage: …\n", version: "1.2.3" };
  expect(answerUsage(read("audit"), about)).toBeUndefined();
  expect(answerUsage(read("-h"), about)).toEqual({ stream: "stdout", text: "Usage: …\n", exitCode: 0 });
  expect(answerUsage(read("-v"), about)).toEqual({ stream: "stdout", text: "1.2.3\n", exitCode: 0 });
  expect(answerUsage(read("--nope"), about)).toEqual({
    stream: "stderr",
    text: "bench: Unknown option '--nope'.\nRun 'npm run bench -- --help'.\n",
    exitCode: 2,
  });
  expect(usageMessage("broker", noSuchCommand("x", ["serve"]))).toBe(
    "broker: there is no command 'x'.\nRun 'broker --help'.",
  );
  expect(usageMessage("broker", noSuchCommand("srve", ["serve"]))).toContain("did you mean serve?\n");
});
