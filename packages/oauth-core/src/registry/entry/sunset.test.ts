import { describe, expect, it } from "vitest";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { CATALOGUE } from "../catalogue.ts";
import { REGISTRY } from "../registry.ts";
import { hasEnded, type Sunset, urlsThatEnd } from "./sunset.ts";

const SUNSET: Sunset = {
  endsOn: "2027-02-16",
  what: "version 1",
  urls: ["https://vendor.example/v1/"],
  source: "https://vendor.example/changelog",
};
const at = (instant: string) => fixedClock(Date.parse(instant) / 1000);

describe("a sunset", () => {
  it("is over from the first second of its day in UTC", () => {
    expect(hasEnded(SUNSET, at("2027-02-15T23:59:59Z"))).toBe(false);
    expect(hasEnded(SUNSET, at("2027-02-16T00:00:00Z"))).toBe(true);
    expect(hasEnded(SUNSET, at("2028-01-01T00:00:00Z"))).toBe(true);
  });

  it("names the URLs that end, none where it is about tokens", () => {
    const urls = ["https://vendor.example/v1/token", undefined, "https://vendor.example/v2/token"];
    expect(urlsThatEnd(urls, SUNSET)).toEqual(["https://vendor.example/v1/token"]);
    const { urls: _, ...tokens } = SUNSET;
    expect(urlsThatEnd(urls, tokens)).toEqual([]);
  });

  it("has a day, and a source among those of its entry, in the catalogue and in the registry", () => {
    const entries = CATALOGUE.filter(({ sunsets }) => sunsets !== undefined);
    expect(entries.map(({ vendor }) => vendor.id)).toEqual(["hubspot", "shopify", "zendesk"]);
    for (const { vendor, sunsets = [], sources } of entries) {
      expect(REGISTRY.get(vendor.id)?.sunsets).toBe(sunsets);
      for (const { endsOn, source, urls = [] } of sunsets) {
        expect(endsOn).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
        expect(new Date(endsOn).toISOString().slice(0, 10)).toBe(endsOn);
        expect(sources).toContain(source);
        // Up to the end of a host or of a step of the path, so that no other host begins the same.
        for (const url of urls) expect(url).toMatch(/^https:\/\/[^/]+\/(.+\/)?$/);
      }
    }
  });
});
