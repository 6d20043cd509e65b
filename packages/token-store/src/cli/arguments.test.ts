import type { UsageAnswer } from "@oauth-broker/oauth-core/command-line";
import { describe, expect, it } from "vitest";
import { parseCommand } from "./arguments.ts";
import manifest from "../../package.json" with { type: "json" };

const ISSUER = ["--issuer", "example=https://issuer.example"];
const NAMED = { issuers: new Map([["example", "https://issuer.example"]]) };
/** Of a command line without options. */
const DEFAULTS = {
  issuers: new Map<string, string>(),
  rate: 100,
  json: false,
  byVendor: false,
  verify: false,
  list: undefined,
  dryRun: false,
  checkpoint: undefined,
  rewrap: false,
  skipIssuerCheck: false,
};

describe("parseCommand", () => {
  it.each<["audit" | "migrate" | "strip", string[], object]>([
    ["audit", [], {}],
    ["audit", ["--by-vendor", "--rate", "5"], { rate: 5, byVendor: true }],
    ["audit", ["--verify", ...ISSUER], { ...NAMED, verify: true }],
    ["migrate", ISSUER, NAMED],
    ["migrate", [...ISSUER, "--rewrap", "--checkpoint", "a.json"], { ...NAMED, checkpoint: "a.json", rewrap: true }],
    ["migrate", [...ISSUER, "--skip-issuer-check", "--json"], { ...NAMED, json: true, skipIssuerCheck: true }],
    ["strip", [...ISSUER, "--dry-run"], { ...NAMED, dryRun: true }],
  ])("reads %s %j", (name, options, changed) => {
    expect(parseCommand([name, ...options])).toEqual({ name, options: { ...DEFAULTS, ...changed } });
  });

  it.each([[["--help"]], [["strip", "-h"]], [["help"]]])("answers %j with every command and option", (args) => {
    const { text, ...answer } = parseCommand(args) as UsageAnswer;
    expect(answer).toEqual({ stream: "stdout", exitCode: 0 });
    const words = "audit migrate strip --issuer --rate --json --by-vendor --verify --list --dry-run --checkpoint";
    for (const word of [...words.split(" "), "--rewrap", "--skip-issuer-check", "--help", "--version"]) {
      expect(text).toMatch(new RegExp(`^ .*${word}\\b`, "m"));
    }
  });

  it("knows its version", () => {
    expect(parseCommand(["audit", "-v"])).toEqual({ stream: "stdout", text: manifest.version, exitCode: 0 });
  });

  it("takes an issuer for each vendor, whatever the issuer holds", () => {
    const issuers = new Map(Object.entries({ a: "https://x.example/?b=c", d: "token.example" }));
    const command = parseCommand(["strip", "--issuer", "a=https://x.example/?b=c", "--issuer", "d=token.example"]);
    expect(command).toMatchObject({ options: { issuers } });
  });

  it("takes the issuers of the program's settings, and those of the command line before them", () => {
    const known = { a: "https://a.example", b: "https://b.example" };
    const issuers = new Map(Object.entries(known));
    const all = new Map(Object.entries({ ...known, b: "mine", c: "https://c.example" }));
    const program = { name: "node main.js token-store", issuers };
    const command = parseCommand(["migrate", "--issuer=b=mine", "--issuer", "c=https://c.example"], program);
    expect(command).toMatchObject({ options: { issuers: all } });
    expect(parseCommand(["strip", "--dry-run"], program)).toMatchObject({ options: { issuers } });
    const text = expect.stringContaining("Run 'node main.js token-store --help'");
    expect(parseCommand(["strp"], program)).toMatchObject({ text });
  });

  it.each([
    [[], "a command is missing: audit, migrate or strip"],
    [["audti"], "there is no command 'audti'"],
    [["audit", "now"], "audit takes no arguments"],
    [["audit", "--dry-run"], "--dry-run does not go with audit"],
    [["strip", ...ISSUER, "--rewrap"], "--rewrap does not go with strip"],
    [["strip", ...ISSUER, "--verify"], "--verify does not go with strip"],
    [["audit", "--rate", "0"], "--rate takes a whole number from 1 to 10000"],
    [["audit", "--rate", "1e3"], "--rate takes a whole number from 1 to 10000"],
    [["audit", "--issuer", "example"], "--issuer takes VENDOR=ISSUER, not 'example'"],
    [["audit", "--issuer", "=x"], "--issuer takes VENDOR=ISSUER, not '=x'"],
    [["audit", "--issuer", "x="], "--issuer takes VENDOR=ISSUER, not 'x='"],
    [["audit", ...ISSUER, ...ISSUER], "--issuer names example twice"],
    [["strip", ...ISSUER, "--checkpoint", ""], "--checkpoint takes the path of a file"],
    [
      ["strip", ...ISSUER, "--dry-run", "--checkpoint", "f"],
      "a dry run leaves no checkpoint: drop one of the two options",
    ],
    [
      ["audit", "--list", "other"],
      "--list takes one of plaintext_only, both, ciphertext_only, broken, empty, expired, unreadable, differs",
    ],
    [["audit", "--list", "unreadable"], "--list unreadable goes with --verify only"],
    [["audit", "--jsn"], "Unknown option '--jsn': did you mean --json?"],
    [["audit", "--json=yes"], "Option '--json' does not take an argument"],
  ])("refuses %j, saying why and where to look", (args, problem) => {
    const sentence = problem.endsWith("?") ? problem : `${problem}.`;
    expect(parseCommand(args)).toEqual({
      stream: "stderr",
      text: `token-store: ${sentence}\nRun 'token-store --help'.`,
      exitCode: 2,
    });
  });

  it.each([["migrate"], ["strip"], ["audit", "--verify"]])(
    "refuses %s without an issuer, and says who names the vendors",
    (...args) => {
      expect(parseCommand(args)).toMatchObject({
        exitCode: 2,
        text: expect.stringContaining("audit --by-vendor"),
      });
    },
  );
});
