import { describe, expect, it } from "vitest";
import { Secret } from "@oauth-broker/oauth-core";
import { CLIENT } from "../testing/test-storage.ts";
import type { ConnectorSettings, SettingsChange } from "./connector.ts";
import { changedSettings, NEW_SETTINGS, requireSettings, settingsProblems } from "./settings.ts";

const RULES = { allowCidrs: [] };
const GOOD: ConnectorSettings = {
  ...CLIENT,
  hasClientSecret: true,
  scopes: "read write",
  placeholders: {},
};

const { authorizationUrl: _a, tokenUrl: _t, ...DISCOVERED } = GOOD;

const problemsOf = (over: Partial<ConnectorSettings>): readonly string[] =>
  settingsProblems({ ...GOOD, ...over }, RULES).map(({ path }) => path);

function refusalOf(before: ConnectorSettings, change: SettingsChange): string {
  try {
    requireSettings(before, change, RULES);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

describe("settings of a connector", () => {
  it("as a pre-registered client has them, and those of a new connector, are fine", () => {
    expect(problemsOf({})).toEqual([]);
    expect(settingsProblems(NEW_SETTINGS, RULES)).toEqual([]);
  });

  it.each([
    ["http elsewhere than on loopback", "http://id.example.com/token"],
    ["user information", "https://user:pass@id.example.com/token"],
    ["a fragment", "https://id.example.com/token#part"],
    ["another port", "https://id.example.com:8443/token"],
    ["a private host", "https://10.0.0.1/token"],
    ["no URL", "id.example.com/token"],
    ["another scheme", "javascript:alert(1)"],
    ["braces that hold no name", "https://{}.example.com/token"],
    ["a brace that never ends", "https://id.example.com/{tenant"],
    ["a placeholder without a value", "https://id.example.com/{tenant}/token"],
    ["a placeholder for the scheme", "{scheme}://id.example.com/token"],
  ])("refuse a Token URL with %s", (_, tokenUrl) => {
    expect(problemsOf({ tokenUrl })).toEqual(["tokenUrl"]);
  });

  it.each([
    ["http://127.0.0.1:9000/token", {}],
    ["https://id.example.com/{tenant}/token", { tenant: "acme" }],
    ["https://{tenant}.example.com/token", { tenant: "acme" }],
  ])("take %s as Token URL", (tokenUrl, placeholders) => {
    expect(problemsOf({ tokenUrl, placeholders })).toEqual([]);
  });

  it.each([
    ["a label more", "https://{tenant}.example.com/token", "evil.net/x"],
    ["a path segment more", "https://id.example.com/{tenant}/token", "../admin"],
    ["a port", "https://{tenant}.example.com/token", "a:8443"],
  ])("refuse a placeholder's value that adds %s", (_, tokenUrl, tenant) => {
    expect(problemsOf({ tokenUrl, placeholders: { tenant } })).toEqual(["tokenUrl"]);
  });

  it.each<[string, string, Partial<ConnectorSettings>]>([
    [
      "a placeholder that nothing uses, because a misspelt one would be lost",
      "placeholders",
      { placeholders: { tenat: "acme" } },
    ],
    ["a registration without authentication", "registration", { authentication: "none" }],
  ])("refuse %s", (_, path, over) => {
    expect(problemsOf(over)).toEqual([path]);
  });

  it.each([
    ["github", []],
    ["https://id.example.com", []],
    ["no-such-vendor", ["vendorOrIssuer"]],
  ])("take a vendor's id with its own placeholders, or an issuer: %s", (vendorOrIssuer, paths) => {
    const { scopes: _, ...open } = DISCOVERED;
    const found = settingsProblems({ ...open, hasClientSecret: false, vendorOrIssuer }, RULES);
    expect(found.map(({ path }) => path)).toEqual(paths);
  });

  it.each<[string, string, Partial<ConnectorSettings>]>([
    ["is off", "vendorOrIssuer", { vendorOrIssuer: "wechat" }],
    ["wants secrets that only the broker signs", "vendorOrIssuer", { vendorOrIssuer: "apple" }],
    ["lacks a value", "placeholders", { vendorOrIssuer: "kinde" }],
    ["is misspelt", "vendorOrIssuer", { vendorOrIssuer: "gitub" }],
  ])("refuse a vendor that %s, before a user tries to connect", (_, path, over) => {
    expect(settingsProblems({ ...DISCOVERED, ...over }, RULES).map((one) => one.path)).toEqual([path]);
  });

  it("suggest the vendor that was probably meant", () => {
    const [found] = settingsProblems({ ...DISCOVERED, vendorOrIssuer: "gitub" }, RULES);
    expect(found?.problem).toContain("did you mean github?");
  });

  it("through the broker take a vendor that only its operator knows, with placeholders of it", () => {
    const own = { registration: "broker", vendorOrIssuer: "intranet", placeholders: { tenant: "one" } } as const;
    expect(settingsProblems({ ...DISCOVERED, ...own }, RULES)).toEqual([]);
  });

  it("of a hosted server name no vendor and no URL, because its metadata does", () => {
    const hosted = { registration: "hosted_server", vendorOrIssuer: "github" } as const;
    expect(problemsOf(hosted)).toEqual(["vendorOrIssuer", "authorizationUrl", "tokenUrl"]);
    expect(
      problemsOf({ ...hosted, vendorOrIssuer: undefined, authorizationUrl: undefined, tokenUrl: undefined } as object),
    ).toEqual([]);
  });

  it("may lie in a private network that the operator permits", () => {
    const inside = { ...GOOD, tokenUrl: "https://id.corp.internal/token" };
    expect(settingsProblems(inside, { allowCidrs: ["10.20.0.0/16"] })).toEqual([]);
    expect(settingsProblems(inside, RULES)).toHaveLength(1);
  });

  it.each([
    ["notion", "read,write", ["scopes"]],
    ["https://id.example.com", "read,write", []],
    ["shopify", "read,write", []],
  ])("of %s with the scopes %s have the problems %j", (vendorOrIssuer, scopes, problems) => {
    expect(problemsOf({ registration: "broker", vendorOrIssuer, scopes })).toEqual(problems);
  });

  it("name every problem at once, and repeat no value", () => {
    const refusal = refusalOf(NEW_SETTINGS, {
      authentication: "oauth_2_1",
      registration: "none",
      authorizationUrl: "http://canary.example",
      tokenUrl: "https://{a b}",
      scopes: 'canary"',
      clientSecret: new Secret("canary-secret"),
    });
    for (const name of ["registration", "clientId", "authorizationUrl", "tokenUrl", "scopes"])
      expect(refusal).toContain(name);
    expect(refusal).not.toContain("canary");
  });

  it("an empty text forgets, an absent one keeps", () => {
    expect(changedSettings(GOOD, { scopes: "" })).not.toHaveProperty("scopes");
    expect(changedSettings(GOOD, {})).toEqual(GOOD);
  });
});

describe("a client secret", () => {
  it("needs a client id", () => {
    expect(refusalOf(NEW_SETTINGS, { clientSecret: new Secret("s") })).toContain("clientId is missing");
  });

  it.each<[string, SettingsChange]>([
    ["the client id", { clientId: "other" }],
    ["the token endpoint", { tokenUrl: "https://evil.example.com/token" }],
    ["the issuer", { vendorOrIssuer: "https://evil.example.com" }],
  ])("bar#BY-2 must be entered again with %s: it was entered for another", (_, change) => {
    expect(refusalOf(GOOD, change)).toContain("clientSecret must be entered again");
    expect(refusalOf(GOOD, { ...change, clientSecret: new Secret("new") })).toBe("");
    expect(refusalOf(GOOD, { ...change, clientSecret: null })).toBe("");
  });

  it("stays when the scopes change", () => {
    expect(refusalOf(GOOD, { scopes: "read" })).toBe("");
  });
});
