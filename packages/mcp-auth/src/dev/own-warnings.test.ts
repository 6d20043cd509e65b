import { expect, it } from "vitest";
import { loadSettings } from "../config.ts";
import { deskEnvironment } from "./environment.ts";
import { ownWarnings } from "./own-warnings.ts";
import { startPracticeVendors } from "./practice-vendor.ts";

/** The warnings that an author sees, of all. */
async function warnings(given: Readonly<Record<string, string>>) {
  const { environment, redirectUri, url } = deskEnvironment(given);
  const vendor = await startPracticeVendors(given, { redirectUri, homeUrl: url, name: "a" });
  await vendor.close();
  const isOwn = ownWarnings(given, { desk: environment, vendor: vendor.environment });
  const all = loadSettings({ ...given, ...environment, ...vendor.environment }).warnings;
  const line = (warning: string): string => JSON.stringify({ level: "warn", event: "configuration_warning", warning });
  return { all, shown: all.filter((warning) => !isOwn(line(warning))) };
}

const SEVERAL = { VENDORS: "github,slack", SIGN_IN: "github", VENDOR_SLACK_SCOPES: "channels:read" };

it.each([
  ["hosted", { OAUTH_MODE: "hosted", VENDOR: "github", VENDOR_SCOPES: "read:user" }],
  ["pre-registered", { OAUTH_MODE: "pre-registered", VENDOR: "slack" }],
  ["several vendors", { OAUTH_MODE: "hosted", OAUTH_DYNAMIC_REGISTRATION: "open", ...SEVERAL }],
])("a new project starts without warnings of our making: %s", async (_, given) => {
  const { all, shown } = await warnings(given);
  expect(all).not.toEqual([]);
  expect(shown).toEqual([]);
});

it("a warning about what the author has set, or about the vendor, is shown", async () => {
  const { shown } = await warnings({
    OAUTH_MODE: "hosted",
    VENDOR: "google-workspace",
    OAUTH_CLIENT_METADATA_HOSTS: "a.example",
  });
  expect(shown).toEqual([expect.stringContaining("VENDOR approves each organization first")]);
  const { shown: unused } = await warnings({ OAUTH_MODE: "pre-registered", VENDOR: "slack", SESSION_MAX_DAYS: "3" });
  expect(unused).toEqual([expect.stringContaining("SESSION_MAX_DAYS")]);
});
