import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Prompts } from "./choose.ts";
import { createPrompts } from "./prompts.ts";

const ENTER = "\r";
const DOWN = "\u001B[B";
const CANCEL = "\u0003";

// With TERM=dumb, as some CI has it, Node.js knows no keys that edit a line.
beforeEach(() => void vi.stubEnv("TERM", "xterm"));

/** Asks one question, presses keys one after the other, and returns the result. */
async function type(
  question: (prompts: Prompts) => Promise<string | undefined>,
  ...keys: readonly string[]
): Promise<{ readonly answer: string | undefined; readonly shown: string }> {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: 100, rows: 40 });
  let shown = "";
  output.setEncoding("utf8").on("data", (text: string) => void (shown += text));
  const prompts = createPrompts((folder) => (folder === "full" ? "is not empty" : undefined), { input, output });
  const asked = question(prompts);
  for (const key of keys) {
    await setImmediate();
    input.write(key);
  }
  const answer = await asked;
  input.end();
  return { answer, shown };
}

describe("the questions", () => {
  it("a folder, and why another one cannot be used", async () => {
    const { answer, shown } = await type((prompts) => prompts.folder(), "full", ENTER, "er", ENTER);
    expect(answer).toBe("fuller");
    expect(shown).toContain("is not empty");
  });

  it("a name, with a good one near the folder's offered", async () => {
    expect((await type((prompts) => prompts.name("My Server"), ENTER)).answer).toBe("my-server");
  });

  it("a mode out of two, in words", async () => {
    const { answer, shown } = await type((prompts) => prompts.mode(), DOWN, ENTER);
    expect(answer).toBe("pre-registered");
    expect(shown).toContain("This server");
  });

  it("a vendor, by typing a part of it", async () => {
    expect((await type((prompts) => prompts.vendor(), "g", "i", "t", ENTER)).answer).toBe("github");
  });

  it("scopes, with the vendor's own offered, and none", async () => {
    expect((await type((prompts) => prompts.scopes("read:user", "github"), ENTER)).answer).toBe("read:user");
    expect((await type((prompts) => prompts.scopes("", "github"), ENTER)).answer).toBe("");
  });

  it("scopes of several vendors, each with its vendor's id", async () => {
    const scopes = (prompts: Prompts) => prompts.scopes("", "github,slack");
    const { answer, shown } = await type(scopes, "github:repo gihub:x", ENTER, "\u0015", "github:repo", ENTER);
    expect(answer).toBe("github:repo");
    expect(shown).toContain("gihub:x names no vendor: with several it is ID:SCOPE");
  });

  it("any of them can be cancelled", async () => {
    for (const question of ["folder", "mode", "vendor"] as const) {
      expect((await type((prompts) => prompts[question](), CANCEL)).answer).toBeUndefined();
    }
  });
});
