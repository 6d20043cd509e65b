import { describe, expect, it } from "vitest";
import { parseJson, parseMembers } from "./json.ts";

describe("JSON of the broker", () => {
  it.each<[string, unknown]>([
    ["17841405822304915", "17841405822304915"],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", "9007199254740992"],
    ["9007199254740993", "9007199254740993"],
    ["-9007199254740993", "-9007199254740993"],
    ["1e400", "1e400"],
    ["12345678901234567890.5", "12345678901234567890.5"],
    ["1.5", 1.5],
    ["-0", -0],
    ['"9007199254740993"', "9007199254740993"],
  ])("reads %s without the loss of a digit, wherever it stands", (number, value) => {
    const text = `{"n": ${number}, "list": [${number}, {"n":${number}}], "${"9".repeat(20)}\\"": "x\\\\"}`;
    expect(parseJson(text)).toEqual({ n: value, list: [value, { n: value }], [`${"9".repeat(20)}"`]: "x\\" });
    expect(parseJson(number)).toBe(value);
  });

  it.each(["00009007199254740993", '{"a":9007199254740993x}', '{"a":9007199254740993', "", "[1]", "null", '"x"'])(
    "is no object in %j",
    (text) => {
      expect(parseMembers(text)).toBeUndefined();
    },
  );
});
