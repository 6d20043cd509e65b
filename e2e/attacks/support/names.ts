/** The names, addresses and secrets that all attacks share. */

export const BASE_URL = "https://broker.example";
export const CALLBACK = `${BASE_URL}/v1/callback`;
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

/** One answer of the broker. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}
