/**
 * How long a vendor that a caller names may keep others waiting: a stranger's `Retry-After` of a day
 * would be repeated by every cache and client between us and the user. Used at tier 3 (trust.ts).
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/client";

const MAX_SECONDS = 60;

const SHORTENED = new WeakMap<VendorClient, VendorClient>();

/** The same client, whose outages say at most a minute. */
export function withShortWaits(client: VendorClient): VendorClient {
  const known = SHORTENED.get(client);
  if (known !== undefined) return known;
  const made: VendorClient = {
    ...client,
    resolve: (vendor) => shortened(client.resolve(vendor)),
    redeemCode: (...asked) => shortened(client.redeemCode(...asked)),
    refreshTokens: (...asked) => shortened(client.refreshTokens(...asked)),
    revokeToken: (...asked) => shortened(client.revokeToken(...asked)),
    revokeGrant: (...asked) => shortened(client.revokeGrant(...asked)),
    account: (...asked) => shortened(client.account(...asked)),
    checkAccessToken: (...asked) => shortened(client.checkAccessToken(...asked)),
    identify: (...asked) => shortened(client.identify(...asked)),
  };
  SHORTENED.set(client, made);
  return made;
}

async function shortened<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof OAuthError && (error.retryAfterSeconds ?? 0) > MAX_SECONDS ? shorter(error) : error;
  }
}

function shorter(error: OAuthError): OAuthError {
  const { code, description, extras, detail, cause } = error;
  return new OAuthError(code, description, {
    ...extras,
    cause: cause ?? error,
    retryAfterSeconds: MAX_SECONDS,
    ...defined({ detail }),
  });
}
