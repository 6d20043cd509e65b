/**
 * Replaces the bearer check for no-auth.ts: it knows one caller, checks nothing and calls no
 * vendor.
 */
import { Secret } from "@oauth-broker/oauth-core";

const token = { accessToken: new Secret("canary.anonymous.token"), version: 1 };
const caller = {
  user: "anonymous",
  scope: undefined,
  expiresAt: 4_000_000_000,
  clientId: "platform",
  vendorToken: async () => token,
  refused: async () => undefined,
};

// Returns a promise, as the real check does.
export async function requireCaller(): Promise<{ readonly caller: typeof caller }> {
  return { caller };
}
