/**
 * The twin of the test in settings.test.ts: with the operator's fields simply over the entry's,
 * the replaced host gets tokens of the new host.
 */
import { expect, it, vi } from "vitest";
import { loadSettings } from "../config.ts";
import { HOSTED, NO_URLS } from "../testing/environments.ts";

vi.mock(import("@oauth-broker/oauth-core/registry"), async (load) => ({
  ...(await load()),
  withOperatorsFields: (known, own) => ({ vendor: { ...known, ...own }, dropped: [] }),
}));

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
