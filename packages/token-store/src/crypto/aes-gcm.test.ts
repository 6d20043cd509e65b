import { readFileSync } from "node:fs";
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { decryptRaw, encryptRaw, freshIv } from "./aes-gcm.ts";

interface AeadVectors {
  readonly numberOfTests: number;
  readonly testGroups: readonly {
    readonly ivSize: number;
    readonly keySize: number;
    readonly tagSize: number;
    readonly tests: readonly Readonly<
      Record<"key" | "iv" | "aad" | "msg" | "ct" | "tag" | "result" | "comment", string> & { tcId: number }
    >[];
  }[];
}

/** Project Wycheproof, see the README beside the file. */
const file: AeadVectors = JSON.parse(readFileSync(new URL("./vectors/aes_gcm_test.json", import.meta.url), "utf8"));
const vectors = file.testGroups.flatMap((group) =>
  group.tests.map((test) => ({
    ...test,
    ours: group.keySize === 256 && group.ivSize === 96 && group.tagSize === 128,
    bytes: {
      key: Buffer.from(test.key, "hex"),
      iv: Buffer.from(test.iv, "hex"),
      aad: Buffer.from(test.aad, "hex"),
      plaintext: Buffer.from(test.msg, "hex"),
      sealed: Buffer.from(test.ct + test.tag, "hex"),
    },
  })),
);
const inShape = vectors.filter(({ ours }) => ours);
const outOfShape = vectors.filter(({ ours }) => !ours);
const UNREADABLE = expect.objectContaining({ name: "TokenStoreError", code: "unreadable" });

describe("AES-256-GCM on Wycheproof's vectors", () => {
  it("are all here", () => {
    expect(vectors).toHaveLength(file.numberOfTests);
    expect([inShape.length, outOfShape.length]).toEqual([66, 250]);
  });

  it.each(inShape)("bar#TS-20 $tcId $comment ($result)", ({ result, bytes }) => {
    const { key, iv, aad, plaintext, sealed } = bytes;
    if (result === "valid") {
      expect(decryptRaw(key, iv, sealed, aad)).toEqual(plaintext);
      expect(encryptRaw(key, iv, plaintext, aad)).toEqual(sealed);
    } else {
      expect(result).toBe("invalid");
      expect(() => decryptRaw(key, iv, sealed, aad)).toThrow(UNREADABLE);
    }
  });

  it.each(outOfShape)("bar#TS-20 another shape is refused: $tcId $comment ($result)", ({ bytes }) => {
    const { key, iv, aad, plaintext, sealed } = bytes;
    const refused = expect.objectContaining({ code: expect.stringMatching(/^(key|input)_invalid$/) });
    expect(() => encryptRaw(key, iv, plaintext, aad)).toThrow(refused);
    expect(() => decryptRaw(key, iv, sealed, aad)).toThrow(refused);
  });
});

describe("the tag", () => {
  const key = Buffer.alloc(32, 1);
  const iv = Buffer.alloc(12, 2);
  const aad = Buffer.from("aad");

  it.each([0, 4, 8, 12, 13, 14, 15])("bar#TS-1 cut to %d bytes is refused", (length) => {
    const sealed = encryptRaw(key, iv, Buffer.from("text"), aad);
    expect(() => decryptRaw(key, iv, sealed.subarray(0, 4 + length), aad)).toThrow(UNREADABLE);
    const ofNothing = encryptRaw(key, iv, Buffer.alloc(0), aad);
    expect(() => decryptRaw(key, iv, ofNothing.subarray(0, length), aad)).toThrow(UNREADABLE);
  });
});

describe("freshIv", () => {
  it("bar#TS-6 gives IVs of 12 bytes, no two the same", () => {
    const calls = volume({ test: 20_000, soak: 1_000_000 });
    const seen = new Set<string>();
    for (let count = 0; count < calls; count += 1) {
      const iv = freshIv();
      if (iv.length !== 12) throw new Error(`an IV of ${iv.length} bytes`);
      seen.add(iv.toString("latin1"));
    }
    expect(seen.size).toBe(calls);
  });

  it("bar#TS-6 gives an IV that later ones do not overwrite", () => {
    const first = freshIv();
    const copy = Buffer.from(first);
    for (let count = 0; count < 1000; count += 1) freshIv();
    expect(first).toEqual(copy);
  });
});
