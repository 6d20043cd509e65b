import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { deriveKey, open } from "./envelope.ts";

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
