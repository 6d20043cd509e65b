import { describe, expect, it } from "vitest";
import { open } from "./envelope.ts";
import { twoKeyCiphertext } from "../testing/rows/two-key-ciphertext.ts";
import { associatedData } from "./encoding.ts";
import { deriveSubkeys } from "./key-commitment.ts";

const KEYS = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const IV = Buffer.alloc(12, 3);
const CONTEXT = ["tokens", "USER#u1", "access_token"];

const subkeys = [deriveSubkeys(KEYS[0]), deriveSubkeys(KEYS[1])] as const;
const aad = associatedData(1, CONTEXT);
const ciphertext = twoKeyCiphertext([subkeys[0].encryption, subkeys[1].encryption], IV, aad);
const envelope = (commitment: Buffer): string =>
  Buffer.concat([Buffer.of(1), commitment, IV, ciphertext]).toString("base64url");
const UNREADABLE = expect.objectContaining({ name: "TokenStoreError", code: "unreadable" });

describe("a ciphertext made for two keys", () => {
  it("bar#TS-5 opens in an envelope under the one key it names, and no other", () => {
    for (const [named, other] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const sealed = envelope(subkeys[named].commitment);
      expect(open(KEYS[named], sealed, CONTEXT)).toHaveLength(32);
      expect(() => open(KEYS[other], sealed, CONTEXT)).toThrow(UNREADABLE);
    }
    expect(() => open(KEYS[0], envelope(Buffer.alloc(32)), CONTEXT)).toThrow(UNREADABLE);
  });
});
