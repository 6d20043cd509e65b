import { describe, expect, it } from "vitest";
import { formatPath, isConfigError, nearest } from "./problems.ts";

it.each([
  [["clients", 0, "redirect_uris", 1], "clients[0].redirect_uris[1]"],
  [["vendors", "my-vendor", "name"], "vendors.my-vendor.name"],
  [["vendors", "a b\u001b"], 'vendors."a b?"'],
  [["x".repeat(80)], `"${"x".repeat(32)}"`],
])("formatPath writes %j", (path, text) => {
  expect(formatPath(path)).toBe(text);
});

describe("nearest", () => {
  const known = ["client_id", "client_secret", "redirect_uris", "pkce"];

  it.each([
    ["client_idd", "client_id"],
    ["Client_Secret", "client_secret"],
    ["redirect_uri", "redirect_uris"],
    ["pcke", undefined],
    ["pkc", "pkce"],
    ["scopes", undefined],
    ["", undefined],
  ])("finds for %j: %s", (written, word) => {
    expect(nearest(written, known)).toBe(word);
  });
});

it("isConfigError distinguishes a ConfigError from other errors", () => {
  expect(isConfigError(Object.assign(new Error("x"), { name: "ConfigError" }))).toBe(false);
  expect(isConfigError("ConfigError")).toBe(false);
});
