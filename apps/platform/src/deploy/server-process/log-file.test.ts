import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { lastLines } from "./log-file.ts";

describe("the end of a log", () => {
  const read = async (text: string, count: number) => {
    const path = join(temporaryFolder(), "log");
    writeFileSync(path, text);
    return lastLines(path, count);
  };

  it("is its last lines, with or without a line end at the end", async () => {
    expect(await read("a\nb\nc\n", 2)).toEqual(["b", "c"]);
    expect(await read("a\nb\nc", 2)).toEqual(["b", "c"]);
    expect(await read("", 2)).toEqual([]);
    expect(await lastLines(join(temporaryFolder(), "none"), 2)).toEqual([]);
  });

  it("of a long file is read without the rest, and has no half line", async () => {
    const line = "x".repeat(99);
    const lines = await read(`${line}\n`.repeat(10_000), 100_000);
    expect(lines.length).toBeGreaterThan(2_000);
    expect(lines.length).toBeLessThan(3_000);
    expect(new Set(lines)).toEqual(new Set([line]));
  });
});
