/**
 * The twin of the test in settings.test.ts: with the operator's fields simply over the entry's,
 * the replaced host gets tokens of the new host.
 */
import * as registry from "@oauth-broker/oauth-core/registry";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { loadSettings } from "../config.ts";
import { HOSTED, NO_URLS } from "../testing/environments.ts";

it("bar#BY-4 twin: the registry's hosts would get the tokens of a token URL that is elsewhere", () => {
  weaken(registry, () => ({ withOperatorsFields: (known, own) => ({ vendor: { ...known, ...own }, dropped: [] }) }));
  const { vendor } = loadSettings({
    ...HOSTED,
    ...NO_URLS,
    VENDOR: "slack",
    VENDOR_TOKEN_URL: "https://gateway.example.com/token",
  }).vendor;
  expect(vendor.refreshEndpoint).toContain("slack.com");
  expect(vendor.revocationEndpoint).toContain("slack.com");
});
