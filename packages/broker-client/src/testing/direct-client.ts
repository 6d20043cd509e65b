/** A vendor that a test describes, and a client there whose answers the test scripts. */
import { defineVendor, type ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { direct, type DirectClient, type DirectOptions } from "../direct/index.ts";
import { REDIRECT_URI } from "./fake-broker.ts";

const ENDPOINTS = {
  authorizationEndpoint: "https://vendor.example/authorize",
  tokenEndpoint: "https://vendor.example/token",
};

export const VENDOR = defineVendor({ id: "own", name: "Own", ...ENDPOINTS });
/** The same, as it is when its endpoints are known. */
export const RESOLVED: ResolvedVendor = { ...VENDOR, ...ENDPOINTS, issExpected: false };
export const CREDENTIALS = { clientId: "deployment", clientSecret: "secret" };

export const directClient = (options: Partial<DirectOptions>): DirectClient =>
  direct({
    vendor: VENDOR,
    credentials: CREDENTIALS,
    redirectUri: REDIRECT_URI,
    now: fixedClock(1_700_000_000),
    ...options,
  });

/** The URL that the vendor sends the browser to, with its code. */
export function codeFor({ state }: { readonly state: string }): URL {
  const callback = new URL(REDIRECT_URI);
  callback.search = new URLSearchParams({ code: "code", state }).toString();
  return callback;
}
