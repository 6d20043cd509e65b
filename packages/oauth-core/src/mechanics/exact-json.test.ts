import { describe, expect, it } from "vitest";
import type { JsonObject } from "../ports.ts";
import { isExactNumber, parseExactJson, withPlainNumbers } from "./exact-json.ts";
import { isJsonObject, parseExactJsonStrict, parseJsonStrict } from "../protocol/strict-json.ts";
import { words } from "../testing/corpora/words.ts";

const NUMBERS = words(`17841405822304915 9007199254740993 -9007199254740993 123456789012345678901234567890
  0.12345678901234567890123 1e400 -1e400 1E5 1.0 -0 5e-324`);

describe("JSON with exact numbers", () => {
  it.each(NUMBERS)("writes %s with the digits it was read with, wherever it stands", (number) => {
    const text = `{"a":${number},"b":{"c":[${number},{"d":${number}}]}}`;
    expect(JSON.stringify(parseExactJson(text))).toBe(text);
    expect(JSON.stringify(parseExactJson(JSON.stringify(parseExactJson(text))))).toBe(text);
  });

  it.each(["0", "7", "-7", "3600", "9007199254740991", "1.5", "1e+21"])("reads %s as a number", (number) => {
    expect(parseExactJson(number)).toBe(Number(number));
  });

  it("is read by ourselves as JSON.parse reads it", () => {
    const text = `{"list":[${NUMBERS.join(",")}],"text":"1.0","none":null,"is":true,"deep":{"n":1.0}}`;
    expect(withPlainNumbers(parseExactJson(text))).toEqual(JSON.parse(text));
  });

  it("has numbers that are no objects", () => {
    const { id } = parseExactJson('{"id":9007199254740993}') as JsonObject;
    expect([isExactNumber(id), isJsonObject(id)]).toEqual([true, false]);
    for (const other of [{ rawJSON: "7" }, 7, "7", null, undefined]) expect(isExactNumber(other)).toBe(false);
  });

  it("has one reading, as all JSON of vendors", () => {
    for (const text of ['{"a":1,"a":2}', '{"__proto__":1}', "01", "1.", "+1", ""]) {
      expect(() => parseExactJsonStrict(text)).toThrow(SyntaxError);
      expect(() => parseJsonStrict(text)).toThrow(SyntaxError);
    }
  });
});
