import { inspect } from "node:util";
import { expect, it } from "vitest";
import { Secret } from "./secret.ts";

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
