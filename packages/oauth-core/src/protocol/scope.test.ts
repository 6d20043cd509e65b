import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OAuthError } from "./errors.ts";
import { formatScope, isSubset, parseScope } from "./scope.ts";
import { anyText } from "../testing/any-text.ts";

const RUNS = { seed: 1, numRuns: 200 };

describe("parseScope", () => {
  it("rfc6749#3.3 splits at spaces and keeps order and case", () => {
    expect(parseScope("repo read:user Repo https://www.example.com/auth/mail.read")).toEqual([
      "repo",
      "read:user",
      "Repo",
      "https://www.example.com/auth/mail.read",
    ]);
  });

  it("takes repeated tokens once and repeated spaces as one", () => {
    expect(parseScope(" a  b a ")).toEqual(["a", "b"]);
    expect(parseScope("")).toEqual([]);
    expect(parseScope("   ")).toEqual([]);
  });

  it.each(['a"b', "a\\b", "a\tb", "a\nb", "a\r\nb", "a\0", "\x7f", "é", "a\u00a0b", "a\u2028b", "\ufeffa", "\x1b[0m"])(
    "bar#ST-5 refuses %j as invalid_scope",
    (scope) => {
      expect(() => parseScope(scope)).toThrow(expect.objectContaining({ code: "invalid_scope" }));
    },
  );

  it("rfc6749#3.3 allows every printable character but quote and backslash", () => {
    const all = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).filter(
      (c) => c !== '"' && c !== "\\",
    );
    expect(parseScope(all.join(" "))).toEqual(all);
  });

  it("throws nothing but OAuthError, and what it accepts survives formatting", () => {
    fc.assert(
      fc.property(fc.oneof(anyText(fc), fc.string()), (text) => {
        try {
          const scope = parseScope(text);
          expect(parseScope(formatScope(scope))).toEqual(scope);
        } catch (error) {
          expect(error).toBeInstanceOf(OAuthError);
        }
      }),
      RUNS,
    );
  });
});

it("formatScope uses the separator the reader wants", () => {
  expect(formatScope(["a", "b"])).toBe("a b");
  expect(formatScope(["a", "b"], ",")).toBe("a,b");
  expect(formatScope([])).toBe("");
});

it("isSubset compares whole tokens", () => {
  expect(isSubset(["a"], ["a", "b"])).toBe(true);
  expect(isSubset([], [])).toBe(true);
  expect(isSubset(["a", "c"], ["a", "b"])).toBe(false);
  expect(isSubset(["A"], ["a"])).toBe(false);
  expect(isSubset(["a"], ["a:read"])).toBe(false);
});
