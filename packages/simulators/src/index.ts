export { type CookieJar, createCookieJar } from "./cookie-jar.ts";
export { createVisitor, sendWithCookies, type Visitor } from "./visitor.ts";
export {
  createFakeVendor,
  fakeCode,
  type FakeVendor,
  type FakeVendorOptions,
  ownerOf,
  tokenOf,
} from "./fake-vendor/fake-vendor.ts";
export { fakeVendorEnvironment, type FakeVendorServer, startFakeVendor } from "./fake-vendor/start-fake-vendor.ts";
export { driveConsent, type DriveConsentOptions } from "./drive-consent.ts";
export { type OpenIdProvider, type OpenIdProviderOptions, startOpenIdProvider } from "./openid-provider.ts";
export type { Account, AccountId } from "./pages.ts";
export type { Fault } from "./vendor-requests.ts";
export { startScriptedVendor } from "./scripted-vendor.ts";
export type { Script, ScriptedAnswer, ScriptedRequest, ScriptedVendor, VendorAnswer } from "./scripted-vendor.ts";
export { startSandboxVendor, startSandboxVendors } from "./sandbox-vendors.ts";
export type { SandboxVendor, SandboxVendorOptions, VendorOffer } from "./sandbox-app.ts";
