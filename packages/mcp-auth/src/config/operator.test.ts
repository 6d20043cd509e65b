/** Bad names, links and icons end the start; good ones are what the pages show. */
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { type Environment, loadSettings } from "../config.ts";
import { HOSTED, problemsOf as listProblems } from "../testing/environments.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const ICO = Buffer.from("00000100010010100000", "hex");
const WEBP = Buffer.from("RIFF\u0010\0\0\0WEBPVP8 ", "latin1");

const problemsOf = (environment: Environment): string => listProblems(environment).join("; ");

function iconOf(name: string, bytes: Uint8Array | string) {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return { ...HOSTED, SERVER_ICON: path };
}

describe("the operator's name", () => {
  it.each([
    ["an override of direction", "Good\u202egpj.exe"],
    ["an isolate", "\u2066Acme"],
    ["a mark of direction", "Acme\u200f"],
    ["a line break", "Acme\nCorp"],
    ["a letter without width", "Ac\u200bme"],
    ["a filler alone", "\u3164"],
    ["an empty braille cell", "Acme\u2800Corp"],
    ["white space alone", "   "],
    ["81 characters", "x".repeat(81)],
  ])("is refused with %s", (_what, SERVER_NAME) => {
    expect(problemsOf({ ...HOSTED, SERVER_NAME })).toContain("SERVER_NAME must have at most 80 characters");
  });

  it.each(["Acme Corp", "Łódź 東京 GmbH & Co. KG", "שלום", "x".repeat(80), "😀".repeat(80), "<b>Acme</b>"])(
    "may be %s",
    (SERVER_NAME) => {
      expect(loadSettings({ ...HOSTED, SERVER_NAME }).operator.name).toBe(SERVER_NAME);
    },
  );
});

describe("the operator's links", () => {
  it.each(["SERVER_WEBSITE", "SERVER_PRIVACY", "SERVER_TERMS"])("%s is https alone", (name) => {
    for (const value of ["http://acme.example", "javascript:alert(1)", "data:text/html,x", "acme.example", "/privacy"])
      expect(problemsOf({ ...HOSTED, [name]: value })).toContain(`${name} must be an https URL`);
    expect(problemsOf({ ...HOSTED, [name]: "https://user:canary@acme.example" })).toContain("user information");
    expect(problemsOf({ ...HOSTED, [name]: `https://acme.example/${"x".repeat(2_048)}` })).toContain(name);
    expect(() => loadSettings({ ...HOSTED, [name]: "https://acme.example/de?x=1" })).not.toThrow();
  });
});

describe("the icon", () => {
  it.each([
    ["a PNG", "a.png", PNG, "image/png"],
    ["an ICO", "a.ico", ICO, "image/x-icon"],
    ["a WebP", "a.webp", WEBP, "image/webp"],
    ["a PNG by another name", "a.svg", PNG, "image/png"],
  ])("is %s by its first bytes", (_what, name, bytes, contentType) => {
    const { icon } = loadSettings(iconOf(name, bytes)).operator;
    expect(icon?.contentType).toBe(contentType);
    expect(Buffer.from(icon?.bytes ?? [])).toEqual(bytes);
  });

  it.each([
    ["an SVG", "b.svg", '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ["an SVG that is called PNG", "b.png", '<?xml version="1.0"?><svg><script/></svg>'],
    ["HTML", "b.ico", "<!doctype html><script>alert(1)</script>"],
    ["an SVG after a signature's first half", "c.png", "\u0089PN<svg/>"],
    ["another RIFF file", "b.webp", "RIFF\u0010\0\0\0WAVE"],
    ["nothing", "d.png", ""],
  ])("is not %s", (_what, name, text) => {
    expect(problemsOf(iconOf(name, Buffer.from(text, "latin1")))).toContain("SERVER_ICON must be a PNG, ICO or WebP");
  });

  it("has at most 64 KiB", () => {
    const largest = Buffer.concat([PNG, Buffer.alloc(65_536 - PNG.length)]);
    expect(loadSettings(iconOf("large.png", largest)).operator.icon?.bytes).toHaveLength(65_536);
    const larger = Buffer.concat([largest, Buffer.alloc(1)]);
    expect(problemsOf(iconOf("larger.png", larger))).toContain("SERVER_ICON must have at most 65536 bytes");
  });

  it("is a file that can be read, and no device", () => {
    const folder = temporaryFolder();
    expect(problemsOf({ ...HOSTED, SERVER_ICON: folder })).toContain("SERVER_ICON must be a file");
    symlinkSync("/dev/zero", join(folder, "zero.png"));
    expect(problemsOf({ ...HOSTED, SERVER_ICON: join(folder, "zero.png") })).toContain("SERVER_ICON must be a file");
    execFileSync("mkfifo", [join(folder, "pipe.png")]);
    expect(problemsOf({ ...HOSTED, SERVER_ICON: join(folder, "pipe.png") })).toContain("SERVER_ICON must be a file");
    expect(problemsOf({ ...HOSTED, SERVER_ICON: join(folder, "none.png") })).toContain("cannot be read");
  });
});

it("another language than those of the pages is refused, and a misspelt variable named", () => {
  expect(problemsOf({ ...HOSTED, SERVER_LANGUAGE: "fr" })).toContain("SERVER_LANGUAGE must be en or de");
  expect(loadSettings({ ...HOSTED, SERVER_NAMES: "Acme" }).warnings.join()).toContain("did you mean SERVER_NAME?");
});
