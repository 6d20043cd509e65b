import { expect, it } from "vitest";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import type { VendorConfig } from "../config.ts";
import { ISSUER, testVendor } from "../testing/test-broker.ts";
import { homePage } from "./home-page.ts";

const registry = [...REGISTRY].map(([id, entry]): [string, VendorConfig] => [id, { ...entry, credentials: [] }]);
const render = (entries: readonly [string, VendorConfig][]) =>
  homePage({ vendors: new Map(entries), issuer: ISSUER }, undefined);
const idsOf = (html: string) => Array.from(html.matchAll(/<code>([a-z0-9-]+)<\/code>/g), ([, id = ""]) => id);

it("shows what the broker is run for, and the rest of the catalogue on demand", () => {
  const firstClass = registry
    .filter(([, { verification }]) => verification?.status === "first-class")
    .map(([id]) => id);
  const catalogue = registry.filter(([, { verification }]) => verification?.status === "two-sources");
  const [withCredentials = ["", testVendor()]] = catalogue;
  const configured: [string, VendorConfig] = [
    withCredentials[0],
    { ...withCredentials[1], credentials: testVendor().credentials },
  ];
  const html = render([...registry, configured, ["acme", testVendor()]]);
  const [shown = "", folded = ""] = html.split("<details>");
  expect(new Set(idsOf(shown))).toEqual(new Set([...firstClass, configured[0], "acme"]));
  expect(folded).toContain(`<summary>${catalogue.length - 1} more from the catalogue</summary>`);
  expect(idsOf(folded)).toHaveLength(catalogue.length - 1);
  expect(html).toContain('<a href="/v1/vendors">');
});

it("has no list when there is nothing to list", () => {
  expect(render([["acme", testVendor()]])).not.toContain("<details>");
  expect(render([["acme", testVendor({ enabled: false })]])).toContain("No vendor is enabled yet.");
});

it("names the enabled vendors, escaped, and the redirect URI, and loads nothing", () => {
  const html = render([
    ["odd", testVendor({ id: "odd", name: "Waiting & <b>Sons</b>" })],
    ["hidden", testVendor({ id: "hidden", name: "Hidden", enabled: false })],
  ]);
  expect(html).toContain("Waiting &amp; &lt;b&gt;Sons&lt;/b&gt;");
  expect(html).toContain(`${ISSUER}/v1/callback`);
  expect(html).not.toMatch(/Hidden|<script|<img|<link|src=/);
});
