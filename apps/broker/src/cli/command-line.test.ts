import type { UsageAnswer } from "@oauth-broker/oauth-core/command-line";
import { describe, expect, it } from "vitest";
import { parseCommand } from "./command-line.ts";
import manifest from "../../package.json" with { type: "json" };

describe("parseCommand", () => {
  it.each([
    [[], { name: "serve" }],
    [["serve"], { name: "serve" }],
    [["check"], { name: "check" }],
    [["flow", "abc"], { name: "flow", flowId: "abc", json: false }],
    [["flow", "--json", "abc"], { name: "flow", flowId: "abc", json: true }],
    [["flow", "--", "-abc"], { name: "flow", flowId: "-abc", json: false }],
    [["keys", "list"], { name: "keys-list" }],
    [["keys", "adopt", "12"], { name: "keys-adopt", revision: 12 }],
    [["keys", "rotate"], { name: "keys-rotate" }],
    [["audit", "verify", "-"], { name: "audit-verify", file: "-", heads: [] }],
    [
      ["audit", "verify", "--head", "A".repeat(64), "f", "--head", "0".repeat(64)],
      { name: "audit-verify", file: "f", heads: ["a".repeat(64), "0".repeat(64)] },
    ],
  ])("reads %j", (args, command) => {
    expect(parseCommand(args)).toEqual({ command, sandbox: false });
  });

  it("reads --sandbox with any command", () => {
    expect(parseCommand(["--sandbox"])).toEqual({ command: { name: "serve" }, sandbox: true });
    expect(parseCommand(["check", "--sandbox"])).toEqual({ command: { name: "check" }, sandbox: true });
  });

  it.each([
    [["srve"], "there is no command 'srve': did you mean serve?"],
    [["serve", "now"], "serve takes no arguments"],
    [["flow"], "flow takes one flow id"],
    [["flow", "a", "b"], "flow takes one flow id"],
    [["keys"], "keys takes one of: list, rotate, adopt, new"],
    [["keys", "adopt"], "keys adopt takes the revision of the keyset that is meant"],
    [["keys", "adopt", "1a"], "keys adopt takes the revision of the keyset that is meant"],
    [["keys", "drop"], "keys takes one of: list, rotate, adopt, new"],
    [["keys", "rotate", "now"], "keys takes one of: list, rotate, adopt, new"],
    [["check", "--json"], "--json goes with flow only"],
    [["audit"], "audit takes: verify FILE"],
    [["audit", "check", "f"], "audit takes: verify FILE"],
    [["audit", "verify"], "audit verify takes one file, or - for stdin"],
    [["audit", "verify", ""], "audit verify takes one file, or - for stdin"],
    [["audit", "verify", "f", "g"], "audit verify takes one file, or - for stdin"],
    ...["", "abc", "g".repeat(64), "a".repeat(63), `${"a".repeat(64)}\n`].map((head): [string[], string] => [
      ["audit", "verify", "f", "--head", head],
      "--head takes a hash: the 64 hexadecimal digits of an audit_head line",
    ]),
    [["audit", "verify", "f", "--head"], "Option '--head <value>' argument missing"],
    [["serve", "--head", "a".repeat(64)], "--head goes with audit verify only"],
    [["--jsn"], "Unknown option '--jsn': did you mean --json?"],
    [["--json=yes"], "Option '--json' does not take an argument"],
  ])("refuses %j, saying why and where to look", (args, problem) => {
    const text = `broker: ${problem.endsWith("?") ? problem : `${problem}.`}\nRun 'broker --help'.`;
    expect(parseCommand(args)).toEqual({ stream: "stderr", text, exitCode: 2 });
  });

  it.each([["--help"], ["-h"], ["help"], ["keys", "--help"]])(
    "answers %s %s with every command",
    (...args: string[]) => {
      const { text, ...answer } = parseCommand(args) as UsageAnswer;
      expect(answer).toEqual({ stream: "stdout", exitCode: 0 });
      for (const command of ["serve", "check", "flow ID", "keys list", "keys rotate", "keys adopt", "audit verify"])
        expect(text).toContain(`  ${command} `);
    },
  );

  it("knows its version", () => {
    expect(parseCommand(["-v"])).toEqual({ stream: "stdout", text: manifest.version, exitCode: 0 });
  });
});
