import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { deriveKey, hkdfSha256, open } from "./envelope.ts";

const refused = (code: string): unknown => expect.objectContaining({ name: "TokenStoreError", code });

describe("deriveKey", () => {
  it("gives 32 bytes, the same for the same secret and purpose, unrelated for others", () => {
    expect(deriveKey("secret", "one")).toHaveLength(32);
    expect(deriveKey("secret", "one")).toEqual(deriveKey(Buffer.from("secret"), "one"));
    const keys = [deriveKey("secret", "one"), deriveKey("secret", "two"), deriveKey("secreT", "one")];
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(3);
  });

  it("refuses an empty secret: its key would be public", () => {
    expect(() => deriveKey("", "one")).toThrow(refused("key_invalid"));
    expect(() => deriveKey(Buffer.alloc(0), "one")).toThrow(refused("key_invalid"));
    expect(() => deriveKey("\ud800", "one")).toThrow(refused("input_invalid"));
  });

  interface HkdfVectors {
    readonly numberOfTests: number;
    readonly testGroups: readonly {
      readonly tests: readonly Readonly<
        Record<"ikm" | "salt" | "info" | "okm" | "result" | "comment", string> & { tcId: number; size: number }
      >[];
    }[];
  }
  /** Project Wycheproof, see the README beside the file. */
  const file: HkdfVectors = JSON.parse(
    readFileSync(new URL("./vectors/hkdf_sha256_test.json", import.meta.url), "utf8"),
  );
  const vectors = file.testGroups.flatMap(({ tests }) => tests);

  it("Wycheproof's vectors are all here", () => {
    expect(vectors).toHaveLength(file.numberOfTests);
    expect(vectors).toHaveLength(86);
  });

  it.each(vectors)("rfc5869#2 bar#TS-20 $tcId $comment ($result)", ({ ikm, salt, info, size, okm, result }) => {
    const derive = (): Buffer =>
      hkdfSha256(Buffer.from(ikm, "hex"), Buffer.from(salt, "hex"), Buffer.from(info, "hex"), size);
    if (result === "valid") expect(derive().toString("hex")).toBe(okm);
    else expect(derive).toThrow(RangeError);
  });
});

describe("the golden file", () => {
  interface Golden {
    readonly about: string;
    readonly formats: Readonly<
      Record<string, readonly { key: string; context: string[]; plaintext: string; sealed: string }[]>
    >;
  }
  // Never regenerated. When this fails, the code is wrong: the next release would make stored
  // values unreadable.
  const golden: Golden = JSON.parse(readFileSync(new URL("./envelope.golden.json", import.meta.url), "utf8"));

  it.each(Object.entries(golden.formats))("bar#TS-20 opens all fifty envelopes of format %s", (_format, envelopes) => {
    expect(envelopes).toHaveLength(50);
    for (const { key, context, plaintext, sealed } of envelopes) {
      expect(open(Buffer.from(key, "base64url"), sealed, context).toString("base64url")).toBe(plaintext);
    }
  });

  it("says that it is never regenerated", () => {
    expect(golden.about).toMatch(/Never regenerated/);
  });
});
