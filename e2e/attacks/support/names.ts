/** The names, addresses and secrets that all attacks share. */
import { createFakeVendor, type FakeVendor, type FakeVendorOptions, ownerOf } from "@oauth-broker/simulators";
import { basic } from "../../support/broker/platform.ts";

export const BASE_URL = "https://broker.example";
export const CALLBACK = `${BASE_URL}/v1/callback`;
/** The vendor of the victim, and the attacker's. */
export const HONEST = "https://honest.example";
export const EVIL = "https://evil.example";
export const NOW = 1_700_000_000;

/** Two platforms, each with one redirect URI. */
export const PLATFORMS = {
  platform: { secret: "platform-secret-0123456789abcdefghijk", redirectUri: "https://platform.example/oauth/back" },
  other: { secret: "other-secret-0123456789abcdefghijklmno", redirectUri: "https://other.example/oauth/back" },
} as const;
export type PlatformId = keyof typeof PLATFORMS;

/**
 * Our client at every vendor. Its id is public; the secret is what a malicious token endpoint is
 * after.
 */
export const VENDOR_CLIENT = { clientId: "broker-at-vendor", clientSecret: "vendor-secret-0123456789abcdefghijklm" };

/** The headers of a form, and of one from the first platform. */
export const FORM = { "content-type": "application/x-www-form-urlencoded" };
export const BASIC_FORM = { ...FORM, authorization: basic("platform", PLATFORMS.platform.secret) };

/** A vendor that knows the broker's client. */
export function vendorAt(origin: string, options: Partial<FakeVendorOptions> = {}): FakeVendor {
  return createFakeVendor({ ...VENDOR_CLIENT, redirectUri: CALLBACK, ...options, origin });
}

/** The user who got this code from a vendor. */
export const ownerOfCode = (code: string | null | undefined): string | undefined =>
  ownerOf(code?.replace("code-", "token-"));

/** What the first request to the vendor's token endpoint authenticated with: `id:secret`. */
export const basicSentTo = ({ tokenRequests: [first] }: FakeVendor): string =>
  atob(first?.headers.authorization?.replace("Basic ", "") ?? "");

/** One answer of the broker. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}
