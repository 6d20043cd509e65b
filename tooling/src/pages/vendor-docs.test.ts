import { expect, it } from "vitest";
import { REGISTRY, type RegistryEntry } from "../../../packages/oauth-core/src/registry/index.ts";
import type { SourcedFact } from "../../../packages/oauth-core/src/testing/vendor-witnesses/sources-of-facts.ts";
import { renderVendors } from "./vendor-docs.ts";

const entries = [...REGISTRY.values()];
const facts: SourcedFact[] = [
  { id: "a", field: "pkce", source: "own" },
  { id: "b", field: "pkce", source: "entry" },
  { id: "c", field: "pkce", source: "recalled" },
];
const page = renderVendors(entries, facts);

it("names every entry of the registry once, with the day of its facts", () => {
  const [intro = ""] = page.split("## First-class");
  expect(intro.split("\n")[0]).toBe("<!-- Generated. Remake: npm run docs -->");
  expect(intro).toContain(`The registry has ${entries.length} vendors`);
  for (const { vendor, verification } of entries) {
    const named = page
      .split("\n")
      .filter((line) => line.includes(`(\`${vendor.id}\`)`) || line.includes(`| \`${vendor.id}\` |`));
    expect(named, vendor.id).toHaveLength(1);
    if (verification.status !== "first-class") expect(named[0]).toContain(verification.checkedOn);
  }
});

it("groups what is on by kind, each row under one, and counts them", () => {
  const [, on = ""] = page.split("## On");
  const [groups = ""] = on.split("## Off");
  const counts = [...groups.matchAll(/^### .+ \((\d+)\)$/gm)].map(([, count]) => Number(count));
  const enabled = entries.filter(({ vendor, verification }) => vendor.enabled && verification.status !== "first-class");
  expect(counts).toHaveLength(4);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(enabled.length);
  const groupOf = (id: string): string => groups.split("### ").find((group) => group.includes(`| \`${id}\` |`)) ?? "";
  for (const [id, title] of [
    ["sanity-mcp", "MCP servers"],
    ["keycloak", "Run by their customers"],
    ["okta", "With a tenant"],
    ["hubspot", "At fixed addresses"],
  ] as const)
    expect(groupOf(id).startsWith(title), id).toBe(true);
  expect(groupOf("stripe-connect")).toContain("| `stripe-connect` | `stripe` |");
});

it("says of what is off why, and of what is on how sure it is", () => {
  const [entry] = entries.filter(({ verification }) => verification.status === "two-sources");
  if (entry === undefined) throw new Error("no entry of the catalogue is on");
  const off: RegistryEntry = {
    ...entry,
    vendor: { ...entry.vendor, id: "off", enabled: false },
    verification: {
      status: "listed",
      checkedOn: "2026-01-02",
      sources: ["endpoints: acme/lists@0123456 file.json#off", "https://docs.vendor.example/oauth"],
      endpoints: { confidence: "low", agreeing: 1 },
      reasonsOff: ["fewer than two sources agree", "signs | its requests"],
    },
  };
  const [, table = ""] = renderVendors([off], []).split("## Off");
  expect(table).toContain(
    "fewer than two sources agree; signs \\| its requests | listed, low (1), 2026-01-02 | none |",
  );
  expect(table).toContain("| acme/lists, docs.vendor.example |");
});

it("says for each field how many facts have a source of their own", () => {
  const [, sources = ""] = page.split("## What the facts rest on");
  expect(sources).toContain("state 3 facts that are no defaults; 1 have a source of their own");
  expect(sources).toContain("| `pkce` | 3 | 1 | 33 % | 2 |");
});
