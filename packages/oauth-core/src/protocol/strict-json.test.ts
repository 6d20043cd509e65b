import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonStrict } from "./strict-json.ts";
import { anyText } from "../testing/any-text.ts";

const RUNS = { seed: 1, numRuns: 200 };

describe("parseJsonStrict", () => {
  it("gives what JSON.parse gives", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json({ maxDepth: 6 }),
          fc.dictionary(anyText(fc), anyText(fc)).map((value) => JSON.stringify(value)),
        ),
        (text) => {
          fc.pre(!text.includes("__proto__"));
          expect(parseJsonStrict(text)).toEqual(JSON.parse(text));
          expect(parseJsonStrict(JSON.stringify(JSON.parse(text), null, 2))).toEqual(JSON.parse(text));
        },
      ),
      RUNS,
    );
  });

  it.each([
    '{"a":1,"b":{"a":1,"b":2},"c":[{"a":1},{"a":2}]}',
    '{"a":"a","b":["b","b",",","{","}"]}',
    '{"a\\"b":1,"a":2}',
    '{"":1," ":2}',
    '{"A":1,"a":2}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    ' [ "a" , "a" ] ',
    '{"constructor":"x","prototype":1,"toString":{}}',
    '"__proto__"',
    '["__proto__"]',
    '{"a":"__proto__"}',
  ])("accepts %s, where nothing is named twice", (text) => {
    expect(parseJsonStrict(text)).toEqual(JSON.parse(text));
  });

  it.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{"a":{"b":1,"b":2}}',
    '[{"a":1,"a":2}]',
    '[[[{"x":{"a":1,"a":2}}]]]',
    '{"a":1,"\\u0061":2}',
    '{"\\u0061":1,"a":2}',
    '{"a\\/b":1,"a/b":2}',
    '{"":1,"":2}',
    '{ "a" : [ ] , "b" : { } , "a" : 1 }',
    '{"a":[{"a":1}],"a":2}',
    '{"access_token":"x","access_token":"y"}',
  ])("rfc8259#4 refuses %s, where a name comes twice in one object", (text) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(() => parseJsonStrict(text)).toThrow(SyntaxError);
  });

  it.each(['{"__proto__":{}}', '{"a":{"__proto__":1}}', '{"\\u005f_proto__":1}', '[{"x":[{"__proto__":null}]}]'])(
    "refuses %s",
    (text) => {
      expect(() => parseJsonStrict(text)).toThrow(SyntaxError);
    },
  );

  it("accepts 32 levels and refuses 33, or 100,000", () => {
    const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    const objects = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
    for (const text of [nested(32), objects(32)]) expect(() => parseJsonStrict(text)).not.toThrow();
    for (const text of [nested(33), objects(33), nested(100_000), "[".repeat(100_000)]) {
      expect(() => parseJsonStrict(text)).toThrow(SyntaxError);
    }
    expect(() => parseJsonStrict(`[${nested(31)},${nested(31)}]`)).not.toThrow();
  });

  it.each([
    "",
    " ",
    "{",
    "}",
    "]",
    '"',
    '"a',
    '"\\',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "[1,]",
    "[1}",
    '{"a":1]',
    "{a:1}",
    "{'a':1}",
    "01",
    "+1",
    "NaN",
    "Infinity",
    "undefined",
    "1 2",
    "{}{}",
    "\ufeff{}",
    '{"a":"\n"}',
    '{"\\x":1}',
    '{"\\u12":1}',
    "<html>",
    "a=1&b=2",
    "]]]]",
    "}{",
    '"a" "b"',
    ',"a"',
    '{"a":1,"b"',
  ])("refuses %j, which is not JSON", (text) => {
    expect(() => parseJsonStrict(text)).toThrow(SyntaxError);
  });

  it("never quotes the text, which may be a token answer", () => {
    for (const text of ['{"access_token":"canary-1"', '{"canary-1":1,"canary-1":2}', "canary-1"]) {
      expect(() => parseJsonStrict(text)).toThrow(
        expect.toSatisfy((error: Error) => !inspect(error).includes("canary-1") && error.cause === undefined),
      );
    }
  });

  it("throws nothing but SyntaxError", () => {
    const token = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      "\\",
      '"a"',
      "1",
      " ",
      "null",
      "__proto__",
      "\\u0061",
    );
    const nearly = fc.array(token, { maxLength: 30 }).map((tokens) => tokens.join(""));
    fc.assert(
      fc.property(fc.oneof(anyText(fc), nearly), (text) => {
        let thrown: unknown;
        try {
          expect(parseJsonStrict(text)).toEqual(JSON.parse(text));
        } catch (error) {
          thrown = error;
        }
        expect(thrown === undefined || thrown instanceof SyntaxError).toBe(true);
      }),
      RUNS,
    );
  });

  it("reads 256 KB in one pass", () => {
    const big = JSON.stringify(
      Object.fromEntries(Array.from({ length: 11_000 }, (_, index) => [`member_${index}`, 'x\\y"z'])),
    );
    expect(big.length).toBeGreaterThan(250_000);
    expect(Object.keys(Object(parseJsonStrict(big)))).toHaveLength(11_000);
  });
});
