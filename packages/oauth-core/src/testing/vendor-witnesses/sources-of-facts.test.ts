import { describe, expect, it } from "vitest";
import { CATALOGUE, type CatalogueEntry } from "../../registry/catalogue.ts";
import { sourcesOfFacts } from "./sources-of-facts.ts";
import unsourced from "./unsourced.json" with { type: "json" };
import { readWitnesses } from "./witnesses.ts";

const LIMITS: Readonly<Record<string, number>> = unsourced;

const entry: CatalogueEntry = {
  vendor: {
    id: "v",
    name: "V",
    authorizationEndpoint: "https://v.example/a",
    tokenEndpoint: "https://v.example/t",
    revocationEndpoint: "https://v.example/r",
    pkce: "none",
    scopeSeparator: ",",
    tokenRequestBody: "form",
    tokenEndpointAuthMethod: "none",
    rotatesRefreshTokens: true,
  },
  sources: ["revocation: a page", "another page"],
  agreeing: 2,
  confidence: "high",
  recalled: ["tokenEndpointAuthMethod"],
  checks: { pkce: { checkedOn: "2026-11-26", source: "another page" } },
};

describe("the source of a fact", () => {
  it("is its own, or the entry's alone; a default needs none", () => {
    const found = sourcesOfFacts([entry], [{ id: "v", scope_separator: ",", facts: {} }]);
    expect(Object.fromEntries(found.map(({ field, source }) => [field, source]))).toEqual({
      authorizationEndpoint: "own",
      tokenEndpoint: "own",
      revocationEndpoint: "own",
      pkce: "own",
      scopeSeparator: "own",
      tokenEndpointAuthMethod: "recalled",
      rotatesRefreshTokens: "entry",
    });
    const [other] = sourcesOfFacts([entry], [{ id: "v", scope_separator: " ", facts: {} }]).filter(
      ({ field }) => field === "scopeSeparator",
    );
    expect(other?.source).toBe("entry");
  });

  it("is missing for fewer and fewer facts of the catalogue: unsourced.json has the most of each", () => {
    const missing = sourcesOfFacts(CATALOGUE, readWitnesses()).filter(({ source }) => source !== "own");
    const counts = Object.groupBy(missing, ({ field }) => field);
    const beyond = Object.entries(counts).filter(([field, facts]) => (facts?.length ?? 0) > (LIMITS[field] ?? 0));
    expect(beyond.map(([field, facts]) => `${field}: ${facts?.length}`)).toEqual([]);
  });
});
