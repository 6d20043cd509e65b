import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { HELP, parseCommand, VERSION } from "./arguments.ts";

const ISSUER = ["--issuer", "example=https://issuer.example"];
const COMMON = { issuers: new Map([["example", "https://issuer.example"]]), rate: 100, json: false };
const NONE = { ...COMMON, issuers: new Map() };

describe("parseCommand", () => {
  it.each([
    [["audit"], { name: "audit", options: { ...NONE, byVendor: false, verify: false, list: undefined } }],
    [
      ["audit", "--by-vendor", "--rate", "5"],
      { name: "audit", options: { ...NONE, rate: 5, byVendor: true, verify: false, list: undefined } },
    ],
    [
      ["audit", "--verify", ...ISSUER],
      { name: "audit", options: { ...COMMON, byVendor: false, verify: true, list: undefined } },
    ],
    [
      ["migrate", ...ISSUER],
      {
        name: "migrate",
        options: { ...COMMON, dryRun: false, checkpoint: undefined, rewrap: false, skipIssuerCheck: false },
      },
    ],
    [
      ["migrate", ...ISSUER, "--rewrap", "--skip-issuer-check", "--checkpoint", "a.json", "--json"],
      {
        name: "migrate",
        options: { ...COMMON, json: true, dryRun: false, checkpoint: "a.json", rewrap: true, skipIssuerCheck: true },
      },
    ],
    [["strip", ...ISSUER, "--dry-run"], { name: "strip", options: { ...COMMON, dryRun: true, checkpoint: undefined } }],
    [["--help"], { name: "help" }],
    [["strip", "-h"], { name: "help" }],
    [["help"], { name: "help" }],
    [["-v"], { name: "version" }],
    [["audit", "--version"], { name: "version" }],
  ])("reads %j", (args, command) => {
    expect(parseCommand(args)).toEqual(command);
  });

  it("takes an issuer for each vendor, whatever the issuer holds", () => {
    const command = parseCommand(["strip", "--issuer", "a=https://x.example/?b=c", "--issuer", "d=token.example"]);
    expect(command).toMatchObject({
      options: {
        issuers: new Map([
          ["a", "https://x.example/?b=c"],
          ["d", "token.example"],
        ]),
      },
    });
  });

  it("takes the issuers of the program's settings, and those of the command line before them", () => {
    const issuers = new Map([
      ["a", "https://a.example"],
      ["b", "https://b.example"],
    ]);
    const program = { name: "node main.js token-store", issuers };
    const command = parseCommand(["migrate", "--issuer=b=mine", "--issuer", "c=https://c.example"], program);
    expect(command).toMatchObject({
      options: {
        issuers: new Map([
          ["a", "https://a.example"],
          ["b", "mine"],
          ["c", "https://c.example"],
        ]),
      },
    });
    expect(parseCommand(["strip", "--dry-run"], program)).toMatchObject({ options: { issuers } });
    expect(parseCommand(["strp"], program)).toMatchObject({
      message: expect.stringContaining("Run 'node main.js token-store --help'"),
    });
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
    expect(parseCommand(args)).toEqual({
      name: "invalid",
      message: `token-store: ${problem}.\nRun 'token-store --help'.`,
    });
  });

  it.each([["migrate"], ["strip"], ["audit", "--verify"]])(
    "refuses %s without an issuer, and says who names the vendors",
    (...args) => {
      expect(parseCommand(args)).toMatchObject({
        name: "invalid",
        message: expect.stringContaining("audit --by-vendor"),
      });
    },
  );

  it("knows its version, and its help names every command and option", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect(VERSION).toBe(manifest.version);
    const words = ["audit", "migrate", "strip", "--issuer", "--rate", "--json", "--by-vendor", "--verify", "--list"];
    for (const word of [
      ...words,
      "--dry-run",
      "--checkpoint",
      "--rewrap",
      "--skip-issuer-check",
      "--help",
      "--version",
    ]) {
      expect(HELP).toMatch(new RegExp(`^ .*${word}\\b`, "m"));
    }
  });
});
