import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expandTemplate, fillsRegistrableDomain, placeholderNames } from "../protocol/placeholders.ts";
import { defined } from "../mechanics/defined.ts";
import { checkScope, checkSentence } from "./fields/checks.ts";
import { capabilitiesOf } from "./entry/registry-entry.ts";
import { REGISTRY } from "./registry.ts";
import { defineVendor, type Vendor } from "./vendor.ts";

const entries = [...REGISTRY.values()].filter(({ verification }) => verification.status === "first-class");
const endpointsOf = ({ vendor }: (typeof entries)[number]): string[] =>
  [
    vendor.authorizationEndpoint,
    vendor.tokenEndpoint,
    vendor.refreshEndpoint,
    vendor.revocationEndpoint,
    vendor.registrationEndpoint,
    vendor.jwksUri,
    vendor.userinfoEndpoint,
    vendor.introspectionEndpoint,
    vendor.account?.endpoint,
    vendor.tokenCheck?.endpoint,
  ].filter((endpoint) => endpoint !== undefined);

describe("the registry", () => {
  it("has each vendor under its own id, a first-class one in a file of that name", () => {
    for (const [id, { vendor, verification }] of REGISTRY) {
      expect(vendor.id).toBe(id);
      expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      if (verification.status === "first-class")
        expect(existsSync(new URL(`first-class/${id}.ts`, import.meta.url)), id).toBe(true);
    }
  });

  it("finds a vendor by each of its aliases, which are no ids and no other vendor's", () => {
    const named = [...REGISTRY.values()].flatMap(({ vendor, aliases = [] }) =>
      aliases.map((alias) => [alias, vendor.id]),
    );
    expect(new Set(named.map(([alias]) => alias)).size).toBe(named.length);
    const ids = new Set(REGISTRY.keys());
    for (const [alias = "", id] of named) {
      expect(alias).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(ids.has(alias), alias).toBe(false);
      expect(alias).not.toBe("custom");
      expect(REGISTRY.get(alias)).toBe(REGISTRY.get(id ?? ""));
      expect(REGISTRY.has(alias)).toBe(true);
    }
    const known = { stripe: "stripe-connect", twitter: "x", jira: "atlassian", gmail: "google", outlook: "microsoft" };
    for (const [alias, id] of Object.entries(known)) expect(REGISTRY.get(alias)?.vendor.id).toBe(id);
  });

  it.each(entries)("says of $vendor.id when and from what its facts are", ({ verification }) => {
    expect(verification.checkedOn).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(verification.sources.length).toBeGreaterThan(1);
  });

  it.each(entries)("says of $vendor.id where its endpoints are, so that no flow waits for discovery", (entry) => {
    expect(entry.vendor.authorizationEndpoint).toBeDefined();
    expect(entry.vendor.tokenEndpoint).toBeDefined();
    for (const endpoint of endpointsOf(entry)) {
      expect(endpoint).toMatch(/^https:\/\/[^:]+$/);
      expect(fillsRegistrableDomain(endpoint, entry.placeholders)).toBe(false);
    }
  });

  it.each(entries)("specifies every placeholder of $vendor.id, and no value that could change the host", (entry) => {
    const templates = [...endpointsOf(entry), entry.serverUrl ?? ""].filter((url) => url !== "");
    const ours = ["client_id"];
    const names = templates.flatMap((template) => placeholderNames(template)).filter((name) => !ours.includes(name));
    expect(Object.keys(entry.placeholders).toSorted()).toEqual([...new Set(names)].toSorted());
    if (entry.serverUrl === undefined) return;
    const hostile = Object.fromEntries(names.map((name) => [name, "evil.example"]));
    if (names.length > 0) {
      expect(() => expandTemplate(entry.serverUrl ?? "", hostile, entry.placeholders)).toThrow("does not fit");
    }
  });

  it.each(entries)("says of $vendor.id where a person's token may go: to its MCP server at least", (entry) => {
    const { apiHosts } = entry.vendor;
    const host = new URL((entry.serverUrl ?? "").replaceAll(/[{}]/g, "")).hostname;
    expect(apiHosts.some((one) => (one.startsWith(".") ? host.endsWith(one) : host === one))).toBe(true);
    for (const one of apiHosts)
      expect(fillsRegistrableDomain(`https://x${one.startsWith(".") ? one : `.${one}`}/`)).toBe(false);
  });

  it.each(entries)("says how $vendor.id identifies a user, or that no source says so", ({ vendor }) => {
    const { identity, account, issuesIdTokens } = vendor;
    expect(identity ?? account?.identity ?? (issuesIdTokens === false ? undefined : "sub")).toBeDefined();
    const members = [typeof identity === "object" ? identity.members : [], account?.identity ?? []].flat();
    for (const member of members) expect(member).not.toMatch(/mail|login|(?:^|[._])name$/);
  });

  it("bar#AS-10 says what scopes allow in plain short sentences, from a source that it names", () => {
    const known = [...REGISTRY.values()].filter(({ vendor }) => vendor.scopeMeanings !== undefined);
    expect(known.map(({ vendor }) => vendor.id)).toEqual(expect.arrayContaining(["github", "google", "slack"]));
    for (const { vendor, verification } of known) {
      const { id, scopeMeanings = {}, defaultScopes } = vendor;
      expect(verification.checks?.scopeMeanings ?? verification.sources, id).toBeDefined();
      for (const scope of defaultScopes) expect(Object.keys(scopeMeanings), id).toContain(scope);
      for (const [scope, sentence] of Object.entries(scopeMeanings))
        expect([checkScope(scope), checkSentence(sentence)], `${id} ${scope}`).toEqual([undefined, undefined]);
    }
  });

  it("bar#AS-10 takes no markup, nothing hidden and nothing endless for such a sentence", () => {
    expect(checkSentence("Read your notes (and lists), by name")).toBeUndefined();
    const wrong = [
      "<b>Read</b> all",
      "Read \u202egnp",
      "Read\u200b all",
      "Read\nall",
      "read all",
      "Read all.",
      "R".repeat(121),
    ];
    for (const sentence of [...wrong, "", "Read &amp; write", "Read “all”"])
      expect(checkSentence(sentence), sentence).toMatch(/^must be a sentence/);
  });

  it("offers registration only where it can be asked for: before a tenant is known", () => {
    const dcr = (registrationEndpoint?: string): boolean => {
      const vendor = defineVendor({ id: "acme", name: "Acme", ...defined({ registrationEndpoint }) });
      return capabilitiesOf({ vendor, byoc: true }).dcr;
    };
    expect(dcr("https://acme.example/register")).toBe(true);
    expect(dcr("https://{tenant}.acme.example/register")).toBe(false);
    expect(dcr()).toBe(false);
  });

  it("fills the server's URL from what an organization gives", () => {
    const { serverUrl = "", placeholders } = REGISTRY.get("microsoft-agent365") ?? { placeholders: {} };
    const environment = "Default-11111111-2222-3333-4444-555555555555";
    expect(
      expandTemplate(serverUrl, { environment_id: environment, server_name: "mcp_MailTools" }, placeholders),
    ).toMatch(new RegExp(`/environments/${environment}/servers/mcp_MailTools$`));
  });
});

it("an MCP server claims ID tokens only with keys, or with the openid scope", () => {
  const server = { id: "v", name: "V", issuer: "https://v.example", serverUrl: "https://v.example/mcp" } as const;
  const claims = (facts: Partial<Vendor>): boolean =>
    capabilitiesOf({ vendor: defineVendor({ ...server, ...facts }), byoc: true }).oidc;
  expect(claims({})).toBe(false);
  expect(claims({ jwksUri: "https://v.example/keys" })).toBe(true);
  expect(claims({ defaultScopes: ["openid"] })).toBe(true);
  expect(capabilitiesOf({ vendor: defineVendor({ id: "v", name: "V", issuer: server.issuer }), byoc: true }).oidc).toBe(
    true,
  );
});
