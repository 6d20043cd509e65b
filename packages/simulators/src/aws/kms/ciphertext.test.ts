import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { canonicalContext, parseBlob, sealBlob } from "./ciphertext.ts";

const key = { id: "3f1b2c1e-0000-4000-8000-000000000001", multiRegion: false, materials: [randomBytes(32)] };
const PLAINTEXT = Buffer.from("a data key of thirty-two bytes..");
const refused = expect.objectContaining({ name: "InvalidCiphertextException" });

describe("the canonical form of an encryption context", () => {
  it("does not depend on the order of the pairs", () => {
    expect(canonicalContext({ a: "1", b: "2" })).toEqual(canonicalContext({ b: "2", a: "1" }));
  });

  it("tells apart contexts whose texts join to the same", () => {
    const forms = [{ a: "bc" }, { ab: "c" }, { abc: "" }, {}, { a: "b", c: "" }, { a: "", b: "c" }];
    const distinct = new Set(forms.map((context) => canonicalContext(context).toString("hex")));
    expect(distinct.size).toBe(forms.length);
  });
});

describe("a CiphertextBlob", () => {
  it("opens with its key and its context only", () => {
    const blob = sealBlob(key, PLAINTEXT, { purpose: "x" });
    expect(parseBlob(blob).keyId).toBe(key.id);
    expect(parseBlob(blob).open(key, { purpose: "x" })).toEqual(PLAINTEXT);
    expect(() => parseBlob(blob).open(key, { purpose: "y" })).toThrow(refused);
    expect(() => parseBlob(blob).open(key, {})).toThrow(refused);
    expect(() => parseBlob(blob).open({ ...key, materials: [randomBytes(32)] }, { purpose: "x" })).toThrow(refused);
  });

  it("opens with any context where that is ignored", () => {
    expect(parseBlob(sealBlob(key, PLAINTEXT, { purpose: "x" })).open(key, "ignored")).toEqual(PLAINTEXT);
  });

  it("is refused with any one bit changed, cut short or made longer", () => {
    const blob = sealBlob(key, PLAINTEXT, { purpose: "x" });
    const open = (bytes: Buffer): Buffer => {
      const parsed = parseBlob(bytes);
      // The server finds the key by this name.
      if (parsed.keyId !== key.id) throw Object.assign(new Error(), { name: "InvalidCiphertextException" });
      return parsed.open(key, { purpose: "x" });
    };
    for (let bit = 0; bit < blob.length * 8; bit += 1) {
      const changed = Buffer.from(blob);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => open(changed), `bit ${bit}`).toThrow(refused);
    }
    for (let length = 0; length < blob.length; length += 1) {
      expect(() => open(blob.subarray(0, length)), `length ${length}`).toThrow(refused);
    }
    expect(() => open(Buffer.concat([blob, Buffer.from([0])]))).toThrow(refused);
  });
});
