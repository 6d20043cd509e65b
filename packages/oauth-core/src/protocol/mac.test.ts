import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hkdfSha256, hmac } from "./mac.ts";

/** Project Wycheproof, see the README beside the files. */
function vectorsOf<T>(name: string): Vectors<T> {
  return JSON.parse(
    readFileSync(new URL(`../../../../e2e/vectors/wycheproof/${name}_test.json`, import.meta.url), "utf8"),
  );
}

interface Vectors<T> {
  readonly numberOfTests: number;
  readonly testGroups: readonly { readonly tagSize: number; readonly tests: readonly T[] }[];
}

describe("hmac", () => {
  type MacVector = Readonly<Record<"key" | "msg" | "tag" | "result", string> & { tcId: number }>;
  const { numberOfTests, testGroups } = vectorsOf<MacVector>("hmac_sha256");
  const vectors = testGroups.flatMap(({ tagSize, tests }) => tests.map((test) => ({ ...test, tagBytes: tagSize / 8 })));

  it("has all 174 vectors", () => {
    expect(vectors).toHaveLength(numberOfTests);
    expect(numberOfTests).toBe(174);
  });

  it.each(vectors)("agrees with Wycheproof $tcId ($result)", ({ key, msg, tag, result, tagBytes }) => {
    const ours = hmac("sha256", Buffer.from(key, "hex"), Buffer.from(msg, "hex")).subarray(0, tagBytes).toString("hex");
    expect(ours === tag).toBe(result === "valid");
  });

  it("agrees with node:crypto at every length around a block and around the shared memory", () => {
    const bytes = Buffer.alloc(5000, "a text that does not repeat at 64");
    for (const key of [0, 1, 31, 32, 63, 64, 65, 127, 128, 129].map((length) => bytes.subarray(0, length))) {
      for (const length of [0, 1, 55, 56, 63, 64, 65, 111, 112, 128, 4031, 4032, 4095, 4096, 4097, 5000]) {
        const input = bytes.subarray(0, length);
        expect(hmac("sha256", key, input)).toEqual(createHmac("sha256", key).update(input).digest());
        expect(hmac("sha512", key, input)).toEqual(createHmac("sha512", key).update(input).digest());
      }
    }
  });

  it("takes text as UTF-8", () => {
    const key = Buffer.alloc(32, 1);
    expect(hmac("sha256", key, "é")).toEqual(hmac("sha256", key, Buffer.from([0xc3, 0xa9])));
  });
});

describe("hkdfSha256", () => {
  type HkdfVector = Readonly<
    Record<"ikm" | "salt" | "info" | "okm" | "result" | "comment", string> & { tcId: number; size: number }
  >;
  const { numberOfTests, testGroups } = vectorsOf<HkdfVector>("hkdf_sha256");
  const vectors = testGroups.flatMap(({ tests }) => tests);

  it("has all 86 vectors", () => {
    expect(vectors).toHaveLength(numberOfTests);
    expect(numberOfTests).toBe(86);
  });

  it.each(vectors)("rfc5869#2 bar#TS-20 $tcId $comment ($result)", ({ ikm, salt, info, size, okm, result }) => {
    const derive = (): Buffer =>
      hkdfSha256(Buffer.from(ikm, "hex"), Buffer.from(salt, "hex"), Buffer.from(info, "hex"), size);
    if (result === "valid") expect(derive().toString("hex")).toBe(okm);
    else expect(derive).toThrow(RangeError);
  });
});
