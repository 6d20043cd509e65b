import { describe, expect, it } from "vitest";
import { open } from "./envelope.ts";
import { twoKeyEnvelope } from "../testing/rows/two-key-ciphertext.ts";

const KEYS = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const CONTEXT = ["tokens", "USER#u1", "access_token"];
const UNREADABLE = expect.objectContaining({ name: "TokenStoreError", code: "unreadable" });

describe("a ciphertext made for two keys", () => {
  it("bar#TS-5 opens in an envelope under the one key it names, and no other", () => {
    for (const [named, other] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const sealed = twoKeyEnvelope(KEYS, named, CONTEXT);
      expect(open(KEYS[named], sealed, CONTEXT)).toHaveLength(32);
      expect(() => open(KEYS[other], sealed, CONTEXT)).toThrow(UNREADABLE);
    }
    const uncommitted = Buffer.from(twoKeyEnvelope(KEYS, 0, CONTEXT), "base64url").fill(0, 1, 33);
    expect(() => open(KEYS[0], uncommitted.toString("base64url"), CONTEXT)).toThrow(UNREADABLE);
  });
});
