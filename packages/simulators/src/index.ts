export { createCookieJar } from "./cookie-jar.ts";
export type { CookieJar } from "./cookie-jar.ts";
export { createVisitor, sendWithCookies, type Visitor } from "./visitor.ts";
export { createFakeVendor, fakeCode, ownerOf, tokenOf } from "./fake-vendor/fake-vendor.ts";
export type { AcceptedCodes, FakeVendor, FakeVendorCounts, FakeVendorOptions } from "./fake-vendor/fake-vendor.ts";
export { fakeVendorEnvironment, startFakeVendor } from "./fake-vendor/start-fake-vendor.ts";
export type { FakeVendorServer } from "./fake-vendor/start-fake-vendor.ts";
export { driveConsent } from "./drive-consent.ts";
export type { DriveConsentOptions } from "./drive-consent.ts";
export { startOpenIdProvider } from "./openid-provider.ts";
export type { OpenIdProvider, OpenIdProviderClient, OpenIdProviderOptions } from "./openid-provider.ts";
export { ACCOUNTS } from "./pages.ts";
export type { Account, AccountId } from "./pages.ts";
export type { Fault, RecordedRequest, VendorFaults } from "./vendor-requests.ts";
export { startScriptedVendor } from "./scripted-vendor.ts";
export type {
  Respond,
  Script,
  ScriptedAnswer,
  ScriptedRequest,
  ScriptedVendor,
  VendorAnswer,
} from "./scripted-vendor.ts";
export { startSandboxVendor, startSandboxVendors } from "./sandbox-vendors.ts";
export type { SandboxVendor, SandboxVendorOptions, VendorOffer } from "./sandbox-app.ts";
