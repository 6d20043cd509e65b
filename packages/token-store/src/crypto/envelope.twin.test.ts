/**
 * The twins of envelope.test.ts and key-commitment.test.ts: with one defence off, the attack
 * succeeds.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import * as encoding from "./encoding.ts";
import { open, seal } from "./envelope.ts";
import * as commitment from "./key-commitment.ts";
import { twoKeyEnvelope } from "../testing/rows/two-key-ciphertext.ts";

const KEY = Buffer.alloc(32, 1);

describe("with a defence off", () => {
  it("without the commitment one envelope opens under two keys (twin of bar#TS-5)", async () => {
    weaken(commitment, () => ({ requireCommitment: () => {} }));
    const keys = [KEY, Buffer.alloc(32, 2)] as const;
    const sealed = twoKeyEnvelope(keys, 0, ["a place"]);
    const texts = keys.map((key) => open(key, sealed, ["a place"]).toString("hex"));
    expect(new Set(texts).size).toBe(2);
  });

  it.each([
    ["without associated data a value opens at any place", () => Buffer.alloc(0), ["USER#u1"], ["USER#u2"]],
    [
      "without lengths in front a place can be cut differently",
      (_version: number, context: readonly string[]) => Buffer.from(context.join("")),
      ["tenant1", "1"],
      ["tenant", "11"],
    ],
    [
      "with a separator instead of lengths, too",
      (_version: number, context: readonly string[]) => Buffer.from(context.join("/")),
      ["tenant", "user/1"],
      ["tenant/user", "1"],
    ],
  ])("%s (twin of bar#TS-3)", async (_what, associatedData, from, to) => {
    weaken(encoding, () => ({ associatedData }));
    expect(open(KEY, seal(KEY, "moved", from), to).toString()).toBe("moved");
  });

  it("with Node's own decoder one envelope has many spellings (twin of bar#TS-1)", async () => {
    weaken(encoding, () => ({ decodeCanonical: (text) => Buffer.from(text, "base64url") }));
    const sealed = seal(KEY, "text", ["a place"]);
    for (const respelled of [`${sealed}=`, `${sealed}\n`, `!${sealed}`]) {
      expect(open(KEY, respelled, ["a place"]).toString()).toBe("text");
    }
  });
});
