/**
 * The twin of the test in settings.test.ts: without `dropEndpointsOfReplacedHost` the replaced host
 * gets tokens of the new one.
 */
import { expect, it, vi } from "vitest";
import { loadSettings } from "../config.ts";
import { HOSTED, NO_URLS } from "../testing/environments.ts";

vi.mock(import("./moved-vendor.ts"), () => ({ dropEndpointsOfReplacedHost: (vendor) => vendor }));

it("bar#BY-4 twin: the registry's hosts would get the tokens of a token URL that is elsewhere", () => {
  const { vendor } = loadSettings({
    ...HOSTED,
    ...NO_URLS,
    VENDOR: "slack",
    VENDOR_TOKEN_URL: "https://gateway.example.com/token",
  }).vendor;
  expect(vendor.refreshEndpoint).toContain("slack.com");
  expect(vendor.revocationEndpoint).toContain("slack.com");
});
