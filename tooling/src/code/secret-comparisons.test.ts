import { describe, expect, it } from "vitest";
import { checkSecretComparisons, staleAllowances } from "./secret-comparisons.ts";
import { parseSource } from "../sources.ts";

const check = (text: string, path = "packages/oauth-core/src/protocol/x.ts") =>
  checkSecretComparisons([parseSource(path, text)]);

describe("bar#HT-9 secrets are compared in constant time", () => {
  it.each([
    "if (flow.codeHash !== code.hash) stop();",
    "const ok = sent.csrf === expected;",
    "const ok = hashOf(given) == stored;",
    "const ok = given !== hmac(name, key, text).mac;",
    "const ok = clientSecret.reveal() === given;",
    "const ok = expected.tag.equals(bytes);",
    "const ok = (presented!.codeVerifier) === known;",
  ])("refuses %s", (text) => {
    expect(check(text)).toHaveLength(1);
  });

  it.each([
    "if (isSameText(flow.codeHash, code.hash)) go();",
    "if (codeHash === undefined || csrf === null) stop();",
    'if (method === "S256" || challenge === "") stop();',
    "if (left.length !== right.length || timingSafeEqual(left, right)) stop();",
    "if (client.clientId !== flow.clientId) stop();",
    "const at = hash.length === 43;",
  ])("leaves alone %s", (text) => {
    expect(check(text)).toEqual([]);
  });

  it("reads product code only", () => {
    expect(check("const ok = a.hash === b.hash;", "packages/oauth-core/src/protocol/x.test.ts")).toEqual([]);
  });

  it("finds an exception that no code needs any more", () => {
    expect(staleAllowances([]).length).toBeGreaterThan(0);
  });
});
