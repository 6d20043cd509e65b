export { createCookieJar } from "./cookie-jar.ts";
export type { CookieJar } from "./cookie-jar.ts";
export { driveConsent } from "./drive-consent.ts";
export type { DriveConsentOptions } from "./drive-consent.ts";
export { startOpenIdProvider } from "./openid-provider.ts";
export type { OpenIdProvider, OpenIdProviderClient, OpenIdProviderOptions } from "./openid-provider.ts";
export { ACCOUNTS } from "./vendor-pages.ts";
export type { Account, AccountId } from "./vendor-pages.ts";
export type { Fault, RecordedRequest, VendorFaults } from "./vendor-requests.ts";
