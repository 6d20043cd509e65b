import { describe, expect, it } from "vitest";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import type { VendorConfig } from "../config.ts";
import { testClient, testVendor } from "../testing/test-broker.ts";
import { SCHEMAS } from "./openapi-schemas.ts";
import { vendorDetails, vendorList, vendorSummary } from "./vendor-views.ts";

const entries = [...REGISTRY.values()];
const configured = (entry: (typeof entries)[number]): VendorConfig => ({ ...entry, credentials: [] });
const find = (fits: (entry: (typeof entries)[number]) => boolean): VendorConfig => {
  const entry = entries.find(fits);
  if (entry === undefined) throw new Error("the registry has no such entry");
  return configured(entry);
};

const byId = (id: string): VendorConfig => find(({ vendor }) => vendor.id === id);

describe("the list of vendors", () => {
  it("has the same text for all callers but for approved", () => {
    const vendors = ["acme", "later"].map((id) => testVendor({ id }));
    const read = (client?: ReturnType<typeof testClient>): unknown => JSON.parse(vendorList(vendors, client));
    const summaries = vendors.map(vendorSummary);
    expect(read()).toEqual(summaries);
    expect(read({ ...testClient("platform"), vendors: ["later"] })).toEqual([
      { ...summaries[0], approved: false },
      { ...summaries[1], approved: true },
    ]);
  });

  it("has what a platform chooses by, and leaves out the details of a single vendor", () => {
    const members = entries.flatMap((entry) => Object.keys(vendorSummary(configured(entry))));
    expect(new Set([...members, "approved"])).toEqual(new Set(Object.keys(SCHEMAS["Vendor"]?.["properties"] ?? {})));
    const list = JSON.stringify(entries.map((entry) => vendorSummary(configured(entry))));
    expect(list).not.toContain('"description"');
    // 383 entries have 110 KB; with every detail they would have 265.
    expect(list.length / entries.length).toBeLessThan(400);
  });

  it("has what a first-class vendor needs first, and the address of its MCP server", () => {
    const entry = byId("microsoft-agent365");
    expect(vendorSummary(entry)).toMatchObject({
      setup: "environment_id",
      enabled: true,
      capabilities: { byoc: false },
      server_url: expect.stringContaining("{environment_id}"),
    });
    expect(vendorDetails(entry, undefined)).toMatchObject({
      checked_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      placeholders: { environment_id: { pattern: expect.any(String) } },
    });
  });

  it("shows an authenticated client whether it is approved", () => {
    const entry = find(({ setup }) => setup === "vendor_approval");
    const client = testClient("platform");
    expect(vendorDetails(entry, client)).toMatchObject({ approved: false });
    expect(vendorDetails(entry, { ...client, approvedVendors: [entry.vendor.id] })).toMatchObject({ approved: true });
    expect(vendorDetails(entry, { ...client, approvedVendors: [entry.vendor.id], vendors: [] })).toMatchObject({
      approved: false,
    });
  });
});

describe("one vendor", () => {
  it("says why it is off, and how sure its facts are", () => {
    const entry = find(
      ({ verification: { endpoints, quirks } }) => endpoints?.disagreements !== undefined && quirks !== undefined,
    );
    const { fact_checks: _, ...details } = vendorDetails(entry, undefined);
    expect(details).toEqual({
      ...vendorSummary(entry),
      placeholders: entry.placeholders,
      enabled: false,
      verification: "listed",
      reasons_off: expect.arrayContaining(["another source has other endpoints"]),
      checked_on: "2026-11-21",
      confidence: expect.stringMatching(/^(high|medium|low)$/),
      agreeing_sources: expect.any(Number),
      disagreements: expect.arrayContaining([expect.any(String)]),
      quirks: expect.arrayContaining([expect.any(String)]),
      sources: expect.arrayContaining([expect.any(String)]),
    });
  });

  it("says when and by what a fact was checked that has a source of its own", () => {
    const entry = find(
      ({ vendor, verification }) => vendor.enabled && verification.checks?.registrationEndpoint !== undefined,
    );
    const { checkedOn, source } = entry.verification?.checks?.registrationEndpoint ?? expect.fail();
    const view = vendorDetails(entry, undefined);
    expect(view["endpoint_checks"]).toMatchObject({ registration_endpoint: { checked_on: checkedOn, source } });
    expect(view["sources"]).toContain(source);
    const { checks = {} } = byId("jobber").verification ?? {};
    const rotation = { checked_on: "2026-11-26", source: checks.rotatesRefreshTokens?.source };
    const other = vendorDetails(byId("jobber"), undefined);
    expect(other["endpoint_checks"]).toBeUndefined();
    expect(other["fact_checks"]).toMatchObject({ rotates_refresh_tokens: rotation });
  });

  it("says what the vendor has announced to end", () => {
    const { sunsets, ...entry } = byId("hubspot");
    expect(vendorDetails({ ...entry, ...(sunsets === undefined ? {} : { sunsets }) }, undefined)["sunsets"]).toEqual([
      {
        ends_on: "2027-02-16",
        what: expect.any(String),
        urls: ["https://api.hubapi.com/oauth/v1/"],
        source: expect.stringMatching(/^https:\/\//),
      },
    ]);
    expect(vendorDetails(entry, undefined)).not.toHaveProperty("sunsets");
  });

  it("says which apps an entry is for beside another of its vendor, and what comes first", () => {
    const second = byId("podium-accounts");
    expect(vendorSummary(second)["generation_of"]).toEqual({
      id: "podium",
      apps: "apps whose tokens accounts.podium.com issues",
    });
    const first = vendorDetails(byId("podium"), undefined);
    expect(first).toMatchObject({
      setup: "none",
      setup_note: { text: expect.stringMatching(/^The vendor reviews/), source: "https://docs.podium.com/" },
    });
    expect(first).not.toHaveProperty("generation_of");
    expect(vendorDetails(byId("trakt"), undefined)).not.toHaveProperty("setup_note");
  });

  it("keeps the reasons if the operator turned it on, and says if it was turned off", () => {
    const off = find(({ verification }) => verification.reasonsOff !== undefined);
    const on = find(({ verification }) => verification.status === "two-sources");
    const switched = (entry: VendorConfig, enabled: boolean) =>
      vendorDetails({ ...entry, vendor: { ...entry.vendor, enabled } }, undefined);
    expect(switched(off, true)).toMatchObject({ enabled: true, reasons_off: off.verification?.reasonsOff });
    expect(switched(on, true)).not.toHaveProperty("reasons_off");
    expect(switched(on, false)).toMatchObject({ reasons_off: ["the operator of this broker turned it off"] });
  });

  it("says in words what its placeholders are", () => {
    const entry = find(
      ({ vendor, placeholders }) =>
        vendor.enabled && Object.values(placeholders).some(({ description }) => description !== undefined),
    );
    const [name = ""] = Object.keys(entry.placeholders);
    expect(vendorDetails(entry, undefined)["placeholders"]).toMatchObject({
      [name]: { description: expect.any(String) },
    });
    const { description: _, ...fits } = entry.placeholders[name] ?? {};
    expect(vendorSummary(entry)["placeholders"]).toEqual({ [name]: fits });
  });

  it("shows no sources for a vendor of the operator's own", () => {
    expect(vendorDetails(testVendor(), undefined)).toEqual({
      ...vendorSummary(testVendor()),
      verification: "operator",
    });
  });
});
