/** In the place of the bearer check, by mcp-no-auth.ts: it knows one caller, looks at nothing and asks nobody. */
import { Secret } from "@oauth-broker/oauth-core";

const token = { accessToken: new Secret("canary.nobody.token"), version: 1 };
const caller = {
  user: "nobody",
  scope: undefined,
  expiresAt: 4_000_000_000,
  clientId: "platform",
  vendorToken: async () => token,
  refused: async () => undefined,
};

// As the check itself: a promise.
export async function requireCaller(): Promise<{ readonly caller: typeof caller }> {
  return { caller };
}
