import type { JsonValue } from "@oauth-broker/oauth-core";
import { expect, it } from "vitest";
import { canonicalJson, isSameJson } from "./canonical-json.ts";

it("spells JSON as RFC 8785 does: its sample of §3.2.2, and its order of names of §3.2.3", () => {
  const sample = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  expect(canonicalJson(JSON.parse(sample))).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
  const names = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
  const sorted = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"];
  const object = Object.fromEntries(names.map((name) => [name, name]));
  expect([...canonicalJson(object).matchAll(/:("[^"]*")/gu)].map(([, value = ""]) => JSON.parse(value))).toEqual(
    sorted,
  );
});

it("orders names as texts, also those that engines order as numbers", () => {
  const ordered = '{"10":1,"9":{"a":[{"b":2,"c":3}],"é":4},"a":5}';
  expect(canonicalJson({ a: 5, "9": { é: 4, a: [{ c: 3, b: 2 }] }, "10": 1 })).toBe(ordered);
  expect(canonicalJson(JSON.parse(ordered))).toBe(ordered);
});

it("spells each character of a text and of a name as JSON does", () => {
  const objects = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code)).map((text) => ({
    [text]: text,
  }));
  expect(objects.filter((object) => canonicalJson(object) !== JSON.stringify(object))).toEqual([]);
});

it("keeps every value that it puts in order, and a name that would be a prototype", () => {
  const text = '{"z":[{"b":null,"a":[true,{"d":1,"c":"x"}]}],"__proto__":{"y":1,"x":2},"a":"é"}';
  expect(canonicalJson(JSON.parse(text))).toBe(
    '{"__proto__":{"x":2,"y":1},"a":"é","z":[{"a":[true,{"c":"x","d":1}],"b":null}]}',
  );
});

it("calls equal what has one canonical text, and nothing else", () => {
  const texts = ["null", "true", "0", "1", '""', '"1"', "[]", "[1,1]", "{}", '{"a":1}', '{"b":1}', '{"a":1,"b":1}'];
  const plain = [...texts, '{"__proto__":{}}', '{"a":{}}', '{"a":null}'];
  const all = [...plain, ...plain.map((text) => `[${text}]`), ...plain.map((text) => `{"d":2,"c":${text}}`)];
  const values = all.map((text) => JSON.parse(text) as JsonValue);
  for (const one of values) {
    expect(values.filter((other) => isSameJson(one, JSON.parse(canonicalJson(other)) as JsonValue))).toEqual([one]);
  }
});
