import { describe, expect, it } from "vitest";
import { identityOf } from "./identity.ts";

const answer = { team: { id: "T1", list: [{ id: 7 }] }, id: 42 };

describe("an identity", () => {
  const MISSING = { code: "vendor_response_invalid", extras: { reason: "identity_missing" } };

  it("is one part, or several joined", () => {
    expect(identityOf(answer, ["id"])).toBe("42");
    expect(identityOf(answer, ["team.id", "team.list.0.id"])).toBe("T1:7");
    expect(identityOf({ account_id: "557058:29540" }, ["account_id"])).toBe("557058:29540");
  });

  it.each<[string, object]>([
    ["missing", {}],
    ["null", { id: null }],
    ["empty", { id: "" }],
    ["an e-mail address", { id: "ada@example.com" }],
    ["an object", { id: { id: "1" } }],
    ["true", { id: true }],
    ["a number that has lost digits", { id: 2 ** 53 }],
    ["a fraction", { id: 1.5 }],
    ["not ASCII", { id: "ада" }],
    ["a control character", { id: "a\nb" }],
    ["256 characters long", { id: "x".repeat(256) }],
  ])("has no part that is %s", (_title, members) => {
    expect(() => identityOf({ team: "T1", ...members }, ["team", "id"])).toThrow(expect.objectContaining(MISSING));
    expect(() => identityOf({ ...members }, ["id"])).toThrow(expect.objectContaining(MISSING));
  });

  it("differs for two different pairs: a part of a joined one must not contain the separator", () => {
    expect(() => identityOf({ a: "x:y", b: "z" }, ["a", "b"])).toThrow(expect.objectContaining(MISSING));
    expect(() => identityOf({ a: "x", b: "y:z" }, ["a", "b"])).toThrow(expect.objectContaining(MISSING));
  });
});
