import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { isSameText, randomToken, Secret } from "./secret.ts";

const VALUE = "canary-4711";

it("reveals its value when asked by name", () => {
  expect(new Secret(VALUE).reveal()).toBe(VALUE);
});

it.each<[string, (secret: Secret) => string]>([
  ["text made of it", (secret) => `value: ${String(secret)}`],
  ["concatenation", (secret) => "" + secret],
  ["String", (secret) => String(secret)],
  ["JSON", (secret) => JSON.stringify({ secret })],
  ["inspect", (secret) => inspect({ secret }, { depth: 5, showHidden: true })],
  ["inspect with getters", (secret) => inspect(secret, { getters: true, customInspect: true })],
  ["its own keys", (secret) => JSON.stringify(Object.getOwnPropertyDescriptors(secret))],
  ["a copy of its members", (secret) => JSON.stringify(Object.assign({}, secret))],
  ["a structured clone", (secret) => inspect(structuredClone(secret))],
  ["an error's cause", (secret) => inspect(new Error("failed", { cause: secret }))],
])("stays hidden in %s", (_, print) => {
  expect(print(new Secret(VALUE))).not.toContain(VALUE);
});

it("prints as [secret]", () => {
  expect([String(new Secret(VALUE)), JSON.stringify(new Secret(VALUE)), inspect(new Secret(VALUE))]).toEqual([
    "[secret]",
    '"[secret]"',
    "[secret]",
  ]);
});

it("rfc6749#10.10 gives every value once, across many refills of the pool", () => {
  const values = Array.from({ length: 20_000 }, (_, index) => randomToken(16 + (index % 3) * 8));
  expect(new Set(values).size).toBe(values.length);
  expect(new Set(values.map((value) => value.length))).toEqual(new Set([22, 32, 43]));
});

it("never hands out wiped bytes", () => {
  for (let index = 0; index < 1000; index++) expect(randomToken(32)).not.toMatch(/A{12}/);
});

describe("isSameText", () => {
  it("bar#HT-9 is true for equal texts and nothing else", () => {
    expect(isSameText("abc", "abc")).toBe(true);
    expect(isSameText("", "")).toBe(true);
    expect(isSameText("abc", "abd")).toBe(false);
    expect(isSameText("abc", "ab")).toBe(false);
    expect(isSameText("abc", "ABC")).toBe(false);
  });

  it("does not fold characters outside latin1 onto ASCII", () => {
    expect(Buffer.from("\u0141", "latin1").toString()).toBe("A");
    expect(isSameText("\u0141", "A")).toBe(false);
  });
});
