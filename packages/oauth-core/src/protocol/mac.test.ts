import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hmacSha256, isSameText } from "./mac.ts";

interface MacVectors {
  readonly numberOfTests: number;
  readonly testGroups: readonly {
    readonly tagSize: number;
    readonly tests: readonly { tcId: number; key: string; msg: string; tag: string; result: string }[];
  }[];
}

/** Project Wycheproof, see the README beside the file. */
const { testGroups, numberOfTests }: MacVectors = JSON.parse(
  readFileSync(new URL("../../../../e2e/vectors/wycheproof/hmac_sha256_test.json", import.meta.url), "utf8"),
);

describe("hmacSha256", () => {
  const vectors = testGroups.flatMap(({ tagSize, tests }) => tests.map((test) => ({ ...test, tagBytes: tagSize / 8 })));

  it("has all 174 vectors", () => {
    expect(vectors).toHaveLength(numberOfTests);
    expect(numberOfTests).toBe(174);
  });

  it.each(vectors)("agrees with Wycheproof $tcId ($result)", ({ key, msg, tag, result, tagBytes }) => {
    const ours = hmacSha256(Buffer.from(key, "hex"), Buffer.from(msg, "hex")).subarray(0, tagBytes).toString("hex");
    expect(ours === tag).toBe(result === "valid");
  });

  it("takes text as UTF-8", () => {
    const key = Buffer.alloc(32, 1);
    expect(hmacSha256(key, "é")).toEqual(hmacSha256(key, Buffer.from([0xc3, 0xa9])));
  });
});

describe("isSameText", () => {
  it("bar#HT-9 is true for equal texts and nothing else", () => {
    expect(isSameText("abc", "abc")).toBe(true);
    expect(isSameText("", "")).toBe(true);
    expect(isSameText("abc", "abd")).toBe(false);
    expect(isSameText("abc", "ab")).toBe(false);
    expect(isSameText("abc", "ABC")).toBe(false);
  });

  it("does not fold characters outside latin1 onto ASCII", () => {
    expect(Buffer.from("\u0141", "latin1").toString()).toBe("A");
    expect(isSameText("\u0141", "A")).toBe(false);
  });
});
