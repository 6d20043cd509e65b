import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lastLines } from "./log-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "log-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the end of a log", () => {
  const read = async (text: string, count: number) => {
    writeFileSync(join(folder, "log"), text);
    return lastLines(join(folder, "log"), count);
  };

  it("is its last lines, with or without a line end at the end", async () => {
    expect(await read("a\nb\nc\n", 2)).toEqual(["b", "c"]);
    expect(await read("a\nb\nc", 2)).toEqual(["b", "c"]);
    expect(await read("", 2)).toEqual([]);
    expect(await lastLines(join(folder, "none"), 2)).toEqual([]);
  });

  it("of a long file is read without the rest, and has no half line", async () => {
    const line = "x".repeat(99);
    const lines = await read(`${line}\n`.repeat(10_000), 100_000);
    expect(lines.length).toBeGreaterThan(2_000);
    expect(lines.length).toBeLessThan(3_000);
    expect(new Set(lines)).toEqual(new Set([line]));
  });
});
