import { describe, expect, it } from "vitest";
import { registrableDomainOf } from "../protocol/public-suffix.ts";
import { fillsRegistrableDomain, placeholderNames } from "../protocol/placeholders.ts";
import { sampleValues } from "../testing/vendor-witnesses/sample-values.ts";
import { authorizationUrl } from "../vendor-client/authorization/url.ts";
import { expandVendor, withClientId } from "../vendor-client/templates.ts";
import { problemsOf } from "../testing/catalogue-shape.ts";
import { CATALOGUE, type CatalogueEntry, catalogueEntry, reasonsOff } from "./catalogue.ts";
import { addressOf, FIELDS } from "./fields.ts";
import { REGISTRY } from "./registry.ts";
import type { Vendor } from "./vendor.ts";
import { words } from "../testing/corpora/words.ts";

const urlsOf = ({ vendor, serverUrl }: CatalogueEntry): string[] =>
  Object.keys(FIELDS).flatMap((name) => {
    const url = addressOf({ ...vendor, ...(serverUrl === undefined ? {} : { serverUrl }) }, name as keyof Vendor);
    return url?.startsWith("https://") === true ? [url] : [];
  });

describe("the catalogue", () => {
  it("holds each vendor once", () => {
    expect(new Set(CATALOGUE.map(({ vendor }) => vendor.id)).size).toBe(CATALOGUE.length);
    expect(CATALOGUE.length).toBe(422);
  });

  it.each(CATALOGUE)("is well formed at $vendor.id", (entry) => {
    expect(problemsOf(entry)).toEqual([]);
    expect(entry.vendor).toMatchObject({
      authorizationEndpoint: expect.any(String),
      tokenEndpoint: expect.any(String),
    });
    expect(entry.vendor.id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(entry.sources.length).toBeGreaterThan(0);
    // A page that is a fragment takes no parameters that way.
    if (urlsOf(entry).some((url) => url.includes("#"))) expect(entry.unsupported).toBeDefined();
    // Filled in the path of the authorization page, and where the revocation is a recipe.
    const { authorizationEndpoint, revocation, revocationEndpoint } = entry.vendor;
    const naming = [authorizationEndpoint, ...(revocation === undefined ? [] : [revocationEndpoint])];
    for (const url of urlsOf(entry).filter((url) => url.includes("{client_id}"))) {
      expect(naming).toContain(url);
      expect(url).toContain("/{client_id}");
    }
    for (const [name, { source }] of Object.entries(entry.checks ?? {})) {
      expect(catalogueEntry(entry).vendor).toHaveProperty(name);
      expect(entry.sources).toContain(source);
    }
    const { callbackParams = [], echoedCallbackParams = [], refreshCallbackParams = [] } = entry.vendor;
    const repeated = [...echoedCallbackParams, ...refreshCallbackParams];
    for (const name of repeated) {
      expect(callbackParams).toContain(name);
      expect(name).not.toMatch(/^(code|code_verifier|client_.*|redirect_uri|grant_type|refresh_token|state|iss)$/);
    }
    expect(entry.vendor.callbackCodeName ?? "").not.toMatch(/^(code|state|iss|error.*|access_token|id_token)$/);
    // Nothing fixed or repeated has the vendor's name of one of our parameters, and state keeps its
    // own.
    const { parameterNames, authorizationParameterNames, authorizationParams, codeExchangeParams, refreshParams } =
      entry.vendor;
    const ours = Object.values({ ...parameterNames, ...authorizationParameterNames });
    const more = Object.keys({ ...authorizationParams, ...codeExchangeParams, ...refreshParams });
    for (const name of [...more, ...repeated]) expect(ours).not.toContain(name);
    for (const names of [parameterNames, authorizationParameterNames]) expect(names ?? {}).not.toHaveProperty("state");
    const { placeholders } = catalogueEntry(entry);
    const fixed = [...Object.values(entry.vendor.authorizationParams ?? {}), entry.vendor.redirectUriAlias ?? ""];
    const templates = [...urlsOf(entry), ...fixed];
    const names = templates.flatMap((url) => [...placeholderNames(url), ...placeholderNames(url, placeholders)]);
    const filledLater = ["client_id", ...(entry.vendor.account?.token?.in === "path" ? ["access_token"] : [])];
    const own = new Set(names.filter((name) => !filledLater.includes(name)));
    expect(Object.keys(placeholders).toSorted()).toEqual([...own].toSorted());
    // A value that another follows from has one of the values it follows by.
    for (const { follows } of Object.values(placeholders)) {
      if (follows === undefined) continue;
      const source = placeholders[follows.placeholder];
      expect([...(source?.values ?? [])].toSorted()).toEqual(Object.keys(follows.values).toSorted());
    }
  });

  it("notices an unknown field, and a value that is not allowed", () => {
    const [entry] = CATALOGUE;
    if (entry === undefined) throw new Error("the catalogue is empty");
    const tokenResult = { member: "code", success: [], other: 1 };
    const account = { endpoint: "https://vendor.example/me", method: "GET", token: { in: "query" } };
    const vendor = { ...entry.vendor, pkce: "S512", tokenResult, revocation: {}, account, revokes: "either" };
    const wrong = { ...entry, extra: 1, vendor: { ...vendor, tokenEndpoint: "http://vendor.example", enabled: true } };
    expect(problemsOf(wrong).toSorted()).toEqual(
      words(`account enabled extra pkce revocation revokes tokenEndpoint
      tokenResult`),
    );
  });

  it("turns on what two sources agree on, and says of the rest why it is off", () => {
    for (const entry of CATALOGUE) {
      const { vendor, placeholders, verification } = catalogueEntry(entry);
      expect(vendor.enabled, vendor.id).toBe(reasonsOff(entry).length === 0);
      expect(verification.status).toBe(vendor.enabled ? "two-sources" : "listed");
      if (!vendor.enabled) continue;
      expect(entry.agreeing, vendor.id).toBeGreaterThan(1);
      if (entry.adjudicated === undefined) expect(entry.disagreements).toBeUndefined();
      else expect(entry.confidence, vendor.id).not.toBe("low");
      if (entry.selfHosted === undefined) {
        for (const url of urlsOf(entry).filter((url) => url !== entry.serverUrl))
          expect(fillsRegistrableDomain(url, placeholders), `${vendor.id} ${url}`).toBe(false);
      }
    }
  });

  it("leaves a vendor off if a placeholder chooses the domain, unless customers run it", () => {
    const [entry] = CATALOGUE.filter(({ selfHosted }) => selfHosted === true);
    if (entry === undefined) throw new Error("no vendor is run by its customers");
    expect(reasonsOff(entry)).toEqual([]);
    const { selfHosted: _, ...hosted } = entry;
    expect(reasonsOff(hosted)).toEqual(["a placeholder chooses the domain"]);
    expect(reasonsOff({ ...entry, confidence: "low" })).toContain("a placeholder chooses the domain");
    const { adjudicated: __, ...compiled } = entry;
    expect(reasonsOff(compiled)).toContain("a placeholder chooses the domain");
  });

  it("compares sources before it overrules one, and needs certainty for that", () => {
    const entry: CatalogueEntry = {
      vendor: {
        id: "v",
        name: "V",
        authorizationEndpoint: "https://v.example/a",
        tokenEndpoint: "https://v.example/t",
      },
      sources: ["one"],
      agreeing: 2,
      confidence: "medium",
      disagreements: ["other: https://w.example/a"],
    };
    expect(reasonsOff(entry)).toEqual(["another source has other endpoints"]);
    expect(reasonsOff({ ...entry, adjudicated: "2026-11-22" })).toEqual([]);
    expect(reasonsOff({ ...entry, adjudicated: "2026-11-22", confidence: "low" })).toEqual([
      "another source has other endpoints",
    ]);
  });

  it("can send a browser to each vendor that is on", () => {
    for (const { vendor, placeholders } of CATALOGUE.map(catalogueEntry).filter((entry) => entry.vendor.enabled)) {
      const named = withClientId(vendor, "c", placeholders);
      const filled = expandVendor(named, sampleValues(placeholders), placeholders);
      const { authorizationEndpoint = "", tokenEndpoint = "" } = filled;
      const endpoints = { authorizationEndpoint, tokenEndpoint };
      const request = {
        clientId: "c",
        redirectUri: "https://broker.example/v1/callback",
        state: "s",
        scope: ["a", "b"],
      };
      const url = new URL(
        authorizationUrl({ ...filled, ...endpoints, issExpected: false }, { ...request, codeChallenge: "x" }),
      );
      expect(url.origin).toBe(new URL(endpoints.authorizationEndpoint).origin);
      const names: Record<string, string> = { ...vendor.parameterNames, ...vendor.authorizationParameterNames };
      const clientId = names["client_id"] ?? "client_id";
      const scope = ["a", "b", ...vendor.offlineScopes].join(vendor.scopeSeparator);
      expect(Object.fromEntries(url.searchParams), vendor.id).toMatchObject({
        ...filled.authorizationParams,
        ...(clientId === "" ? {} : { [clientId]: "c" }),
        state: "s",
        ...(names["scope"] === "" ? {} : { scope }),
        ...(vendor.pkce === "none" ? {} : { code_challenge: "x" }),
        ...(vendor.defaultResource === undefined ? {} : { resource: vendor.defaultResource }),
      });
    }
  });

  it("is off where the vendor has ended it, and says since when", () => {
    const ended = CATALOGUE.filter((entry) => entry.ended !== undefined);
    expect(ended.map(({ vendor }) => vendor.id)).toEqual(["asana-mcp-v1", "fitbit"]);
    for (const entry of ended) {
      expect(entry.ended).toMatch(/^20\d\d-\d\d-\d\d$/);
      const { vendor, verification } = catalogueEntry(entry);
      expect(vendor.enabled).toBe(false);
      expect(verification.reasonsOff).toContain(`the vendor ended it on ${entry.ended}`);
    }
  });

  it("compares the endpoints of an MCP server with live metadata, if there is an address to ask", () => {
    const servers = CATALOGUE.filter(({ quirks = [] }) => quirks.includes("mcp_authorization_server"));
    const alone = servers.filter((entry) => catalogueEntry(entry).vendor.serverUrl === undefined);
    expect(alone.map(({ vendor }) => vendor.id)).toEqual([
      "atlassian-rovo-mcp",
      "google-workspace-mcp",
      "microsoft-agent365-mcp",
      "microsoft-enterprise-mcp",
    ]);
    for (const entry of CATALOGUE.filter((one) => !servers.includes(one))) {
      expect(catalogueEntry(entry).vendor, entry.vendor.id).not.toHaveProperty("serverUrl");
    }
  });

  it("bar#BY-4 exchanges access tokens for long-lived ones at the host that renews them", () => {
    const exchanging = CATALOGUE.filter(({ vendor }) => vendor.longLivedToken !== undefined);
    expect(exchanging.map(({ vendor }) => vendor.id)).toEqual(["facebook", "instagram", "threads"]);
    for (const { vendor } of exchanging) {
      const { longLivedToken, refreshEndpoint, tokenEndpoint, parameterNames } = vendor;
      // Who compares the host of a renewal has compared the host of the exchange.
      expect(longLivedToken?.endpoint.split("/")[2]).toBe((refreshEndpoint ?? tokenEndpoint).split("/")[2]);
      const sent = [longLivedToken?.exchange, longLivedToken?.renewal].filter((one) => one !== undefined);
      for (const request of sent) expect(Object.values(request).filter((value) => value === "{token}")).toHaveLength(1);
      expect([parameterNames, vendor.issuesRefreshTokens]).toEqual([undefined, undefined]);
    }
  });

  it("has a second entry for apps of another generation, at the vendor's own domain", () => {
    const second = CATALOGUE.filter(({ generationOf }) => generationOf !== undefined);
    expect(second.map(({ generationOf }) => generationOf?.id)).toEqual(
      words(`kit monday oura podium todoist trakt
      zendesk`),
    );
    for (const { vendor, generationOf, aliases } of second) {
      const first = CATALOGUE.find((entry) => entry.vendor.id === generationOf?.id);
      const domain = registrableDomainOf(first?.vendor.tokenEndpoint.replace("{subdomain}", "t") ?? "");
      expect(registrableDomainOf(vendor.tokenEndpoint.replace("{subdomain}", "t")), vendor.id).toBe(domain);
      // The names that users know find the first.
      expect([first?.generationOf, aliases], vendor.id).toEqual([undefined, undefined]);
      const { id: _, name: __, ...facts } = vendor;
      expect(facts).not.toEqual({ ...first?.vendor, id: undefined, name: undefined });
    }
  });

  it("says what has to be arranged first with a page that says so", () => {
    const noted = CATALOGUE.filter(({ setupNote }) => setupNote !== undefined);
    expect(noted.length).toBeGreaterThan(20);
    for (const { vendor, setupNote, sources } of noted) {
      expect(sources, vendor.id).toContain(setupNote?.source);
      expect(catalogueEntry(CATALOGUE.find((entry) => entry.vendor === vendor)!).setupNote).toEqual(setupNote);
    }
  });

  it("is in the registry whole, behind the vendors that have a file", () => {
    for (const { vendor } of CATALOGUE) expect(REGISTRY.has(vendor.id), vendor.id).toBe(true);
  });
});
