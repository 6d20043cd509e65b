import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../ports.ts";
import { newIdTokenKey } from "../../testing/id-tokens.ts";
import { usableKeys } from "./jwks.ts";

const RSA = newIdTokenKey("RS256", "rsa").publicJwk as unknown as JsonObject;
const EC = newIdTokenKey("ES256", "ec").publicJwk as unknown as JsonObject;
const ED = newIdTokenKey("EdDSA", "ed").publicJwk as unknown as JsonObject;
const SHORT = newIdTokenKey("RS256", "short", 1024).publicJwk as unknown as JsonObject;
const PRIVATE = newIdTokenKey("ES256", "x").privateKey.export({ format: "jwk" });
const kids = (...keys: unknown[]): unknown[] => usableKeys({ keys } as JsonObject).map(({ kid }) => kid);
const kidsForEncryption = (...keys: unknown[]): unknown[] =>
  usableKeys({ keys } as JsonObject, "enc").map(({ kid }) => kid);
const without = (key: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(key).filter(([member]) => member !== name));

describe("usableKeys", () => {
  it("keeps public signing keys", () => {
    expect(kids(RSA, EC, ED)).toEqual(["rsa", "ec", "ed"]);
    expect(kids(without(RSA, "use"), without(EC, "alg"), { ...ED, key_ops: ["verify"] })).toEqual(["rsa", "ec", "ed"]);
  });

  it.each<[string, unknown]>([
    ["a private key", { ...PRIVATE, kid: "x" }],
    ["a symmetric key", { kty: "oct", k: "c2VjcmV0", kid: "x", alg: "HS256" }],
    ["a public key with a symmetric member", { ...RSA, k: "c2VjcmV0", kid: "x" }],
    ["RSA below 2048 bits", SHORT],
    ["RSA with exponent 1", { ...RSA, e: "AQ", kid: "x" }],
    ["a key for encryption", { ...RSA, use: "enc", kid: "x" }],
    ["a key for signing", { ...RSA, key_ops: ["sign"], kid: "x" }],
    ["a key for signing and verifying", { ...RSA, key_ops: ["sign", "verify"], kid: "x" }],
    ["key_ops that is a string", { ...RSA, key_ops: "verify", kid: "x" }],
    ["a point off its curve", { ...EC, x: EC.y, kid: "x" }],
    ["a point of another curve", { ...EC, crv: "P-384", kid: "x" }],
    ["a kid that is a number", { ...RSA, kid: 7 }],
    ["an unknown key type", { kty: "AKP", kid: "x" }],
    ["half a key", { kty: "RSA", n: RSA.n, kid: "x" }],
    ["null", null],
    ["a string", "key"],
  ])("bar#JW-3 leaves out %s", (_title, key) => {
    expect(kids(EC, key)).toEqual(["ec"]);
  });

  it("bar#JW-3 leaves out both of two keys of one name, unless they differ in kind", () => {
    const other = newIdTokenKey("RS256", "rsa").publicJwk;
    expect(kids(RSA, other, EC)).toEqual(["ec"]);
    expect(kids(RSA, { ...EC, kid: "rsa" })).toEqual(["rsa", "rsa"]);
  });

  it("bar#JW-3 uses a key that is listed twice, whatever else is said about it (h28)", () => {
    const reversed = Object.fromEntries(Object.entries(RSA).toReversed());
    expect(kids(RSA, EC, { ...RSA }, reversed)).toEqual(["rsa", "ec"]);
    expect(kids(without(RSA, "kid"), without(RSA, "kid"))).toEqual([undefined]);
    expect(kids(RSA, { ...RSA, x5t: "another" }, without(RSA, "alg"), EC)).toEqual(["rsa", "ec"]);
  });

  it("takes a member that is null as absent", () => {
    expect(kids({ ...EC, alg: null, use: null, key_ops: null, d: null })).toEqual(["ec"]);
  });

  it("bar#JW-3 refuses a set of more than a hundred", () => {
    const keys = (count: number): unknown[] =>
      Array.from({ length: count }, (_, index) => ({ ...EC, kid: `${index}` }));
    expect(kids(...keys(100))).toHaveLength(100);
    expect(() => kids(...keys(101))).toThrow(expect.objectContaining({ code: "vendor_response_invalid" }));
  });

  it.each([{}, { keys: {} }, { keys: null }])("refuses %o, which is no key set", (set) => {
    expect(() => usableKeys(set)).toThrow(expect.objectContaining({ code: "vendor_response_invalid" }));
  });

  it("keeps keys for encryption to a client, and no signing keys", () => {
    const enc = { ...without(EC, "alg"), use: "enc" };
    const unlabelled = { ...without(without(RSA, "alg"), "use"), kid: "any" };
    const operations = [["deriveKey", "deriveBits"], ["wrapKey"], ["encrypt"], []];
    expect(kidsForEncryption(enc, unlabelled, RSA)).toEqual(["ec", "any"]);
    for (const key_ops of operations) expect(kidsForEncryption({ ...enc, key_ops })).toEqual(["ec"]);
    for (const key_ops of [["verify"], ["decrypt"], ["deriveKey", "sign"], [1], "encrypt"]) {
      expect(kidsForEncryption({ ...enc, key_ops })).toEqual([]);
    }
    expect(kidsForEncryption({ ...enc, use: "sig" }, { ...SHORT, use: "enc" }, { ...PRIVATE, use: "enc" })).toEqual([]);
    expect(kidsForEncryption({ ...enc, x: EC.y })).toEqual([]);
  });
});
