import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expandTemplate, fillsRegistrableDomain, placeholderNames } from "../protocol/placeholders.ts";
import { authorizationUrl } from "../vendor-client/authorization/url.ts";
import { CATALOGUE, type CatalogueEntry, catalogueEntry, reasonsOff } from "./catalogue.ts";
import { REGISTRY } from "./registry.ts";

const TEXTS = new Set(["name", "issuer", "scopeSeparator", "status", "id", "tokenResponseMember"]);
const URLS = new Set(
  ["authorization", "token", "refresh", "revocation", "registration", "userinfo"].map((name) => `${name}Endpoint`),
)
  .add("jwksUri")
  .add("defaultResource")
  .add("serverUrl");
const LISTS = new Set([
  "defaultScopes",
  "offlineScopes",
  "sources",
  "disagreements",
  "unsupported",
  "callbackParams",
  "quirks",
]);
const RECORDS = new Set(["placeholders", "authorizationParams", "tokenResponseNames", "tokenErrors"]);
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  pkce: ["plain", "none"],
  tokenEndpointAuthMethod: ["client_secret_basic", "client_secret_post", "none"],
  tokenRequestBody: ["json"],
  rotatesRefreshTokens: [true, false],
  issuesRefreshTokens: [false],
  issuerSpelling: ["bare"],
  revokes: ["access_token", "refresh_token"],
  confidence: ["high", "medium", "low"],
};

const isSignedSecret = (value: unknown): boolean => {
  const { kind, audience, alg, lifetimeSeconds, ...rest } = value as Record<string, unknown>;
  const isShort = Number.isInteger(lifetimeSeconds) && Number(lifetimeSeconds) > 0 && Number(lifetimeSeconds) <= 600;
  const isKnown = kind === "signed_jwt" && alg === "ES256" && String(audience).startsWith("https://");
  return isKnown && isShort && Object.keys(rest).length === 0;
};

/** Members of an object, and what each may be: a list of values, or a test. */
const SHAPES: Readonly<Record<string, Readonly<Record<string, readonly unknown[] | ((value: unknown) => boolean)>>>> = {
  revocation: {
    method: ["POST", "DELETE"],
    authentication: ["basic", "bearer", "none"],
    body: ["form", "json", "query", "none"],
    tokenParameter: (value) => isText(value),
    ends: ["token", "grant"],
    goneStatuses: (value) => Array.isArray(value) && value.every(Number.isInteger),
    goneErrors: (value) => value === undefined || (Array.isArray(value) && value.every(isText)),
  },
  tokenExpiry: { member: (value) => isText(value), unit: ["seconds", "milliseconds", "date"] },
  tokenResult: { member: (value) => isText(value), success: (value) => Array.isArray(value) },
};

const isOfShape = (value: unknown, shape: (typeof SHAPES)[string]): boolean => {
  const members = value as Record<string, unknown>;
  const fits = Object.entries(shape).every(([name, allowed]) =>
    typeof allowed === "function" ? allowed(members[name]) : allowed.includes(members[name]),
  );
  return fits && Object.keys(members).every((name) => Object.hasOwn(shape, name));
};

const isText = (value: unknown): boolean => typeof value === "string" && value.length > 0 && !/\p{Cc}/u.test(value);

function problemsOf(entry: object): string[] {
  return Object.entries(entry).flatMap(([field, value]: [string, unknown]): string[] => {
    if (field === "vendor") return problemsOf(value as object);
    const allowed = VALUES[field];
    if (allowed !== undefined) return allowed.includes(value) ? [] : [field];
    if (URLS.has(field)) return /^https:\/\/[^\s#:@/?]+([/?][^\s]*)?$/.test(String(value)) ? [] : [field];
    if (TEXTS.has(field)) return isText(value) ? [] : [field];
    const shape = SHAPES[field];
    if (shape !== undefined) return isOfShape(value, shape) ? [] : [field];
    // An empty name leaves the parameter out.
    if (field === "parameterNames")
      return Object.values(value as object).every((name) => typeof name === "string") ? [] : [field];
    if (field === "clientSecret") return isSignedSecret(value) ? [] : [field];
    if (LISTS.has(field)) return Array.isArray(value) && value.length > 0 && value.every(isText) ? [] : [field];
    if (RECORDS.has(field)) return Object.values(value as object).every(isText) ? [] : [field];
    return field === "agreeing" && Number.isInteger(value) ? [] : [field];
  });
}

const urlsOf = (entry: CatalogueEntry): string[] =>
  Object.entries({ ...entry, ...entry.vendor }).flatMap(([field, value]) =>
    URLS.has(field) && typeof value === "string" ? [value] : [],
  );

describe("the catalogue", () => {
  it("holds each vendor once", () => {
    expect(new Set(CATALOGUE.map(({ vendor }) => vendor.id)).size).toBe(CATALOGUE.length);
    expect(CATALOGUE.length).toBe(376);
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
    const names = urlsOf(entry)
      .flatMap(placeholderNames)
      .filter((name) => name !== "client_id");
    expect(Object.keys(entry.placeholders ?? {}).toSorted()).toEqual([...new Set(names)].toSorted());
  });

  it("notices an unknown field, and a value that is not allowed", () => {
    const [entry] = CATALOGUE;
    const tokenResult = { member: "code", success: [], other: 1 };
    expect(
      problemsOf({
        ...entry,
        extra: 1,
        tokenEndpoint: "http://vendor.example",
        pkce: "S512",
        tokenResult,
        revocation: {},
      }),
    ).toEqual(expect.arrayContaining(["extra", "tokenEndpoint", "pkce", "tokenResult", "revocation"]));
  });

  it("turns on what two sources agree on, and says of the rest why it is off", () => {
    for (const entry of CATALOGUE) {
      const { vendor, verification } = catalogueEntry(entry);
      expect(vendor.enabled, vendor.id).toBe(reasonsOff(entry).length === 0);
      expect(verification.status).toBe(vendor.enabled ? "two-sources" : "listed");
      if (!vendor.enabled) continue;
      expect(entry.agreeing).toBeGreaterThan(1);
      expect(entry.disagreements).toBeUndefined();
      expect(fillsRegistrableDomain(vendor.tokenEndpoint ?? "")).toBe(false);
    }
  });

  it("can send a browser to each vendor that is on", () => {
    for (const { vendor, placeholders } of CATALOGUE.map(catalogueEntry).filter((entry) => entry.vendor.enabled)) {
      const values = Object.fromEntries(Object.keys(placeholders).map((name) => [name, "acme"]));
      const fill = (url = ""): string => expandTemplate(url, values, placeholders);
      const endpoints = {
        authorizationEndpoint: fill(vendor.authorizationEndpoint),
        tokenEndpoint: fill(vendor.tokenEndpoint),
      };
      const request = {
        clientId: "c",
        redirectUri: "https://broker.example/v1/callback",
        state: "s",
        scope: ["a", "b"],
      };
      const url = new URL(
        authorizationUrl({ ...vendor, ...endpoints, issExpected: false }, { ...request, codeChallenge: "x" }),
      );
      expect(url.origin).toBe(new URL(endpoints.authorizationEndpoint).origin);
      expect(Object.fromEntries(url.searchParams), vendor.id).toMatchObject({
        ...vendor.authorizationParams,
        client_id: "c",
        state: "s",
        scope: ["a", "b", ...vendor.offlineScopes].join(vendor.scopeSeparator),
        ...(vendor.pkce === "none" ? {} : { code_challenge: "x" }),
        ...(vendor.defaultResource === undefined ? {} : { resource: vendor.defaultResource }),
      });
    }
  });

  it("is in the registry whole, behind the vendors that have a file", () => {
    for (const { vendor } of CATALOGUE) expect(REGISTRY.has(vendor.id), vendor.id).toBe(true);
  });
});

describe("the vendors' own files", () => {
  it("are all in the registry, each under the name that the list is made by", async () => {
    const files = readdirSync(new URL(".", import.meta.url)).filter((name) => /^[a-z0-9-]+\.ts$/.test(name));
    const modules = await Promise.all(
      files.map(async (name): Promise<object> => import(`./${name}`) as Promise<object>),
    );
    const found = modules.flatMap((module) => Object.values(module) as unknown[]).filter(isEntry);
    expect(found.length).toBeGreaterThan(6);
    for (const entry of found) expect(REGISTRY.get(entry.vendor.id)).toBe(entry);
  });
});

function isEntry(value: unknown): value is { vendor: { id: string } } {
  return typeof value === "object" && value !== null && "vendor" in value && "verification" in value;
}
