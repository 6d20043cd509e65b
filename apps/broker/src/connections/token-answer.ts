/**
 * The token response a backend gets: the vendor's tokens in RFC 6749 members, plus the broker's own
 * members. `vendor_id_token`, not `id_token`: its issuer is the vendor, and a standard client would
 * rightly refuse it from the broker.
 */
import type { JsonObject } from "@oauth-broker/oauth-core";
import { formatScope } from "@oauth-broker/oauth-core/protocol";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";

export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in?: number;
  readonly refresh_token?: string;
  readonly scope?: string;
  readonly vendor_id_token?: string;
  readonly vendor: string;
  readonly connection: string;
  readonly vendor_data: JsonObject;
}

//= rfc6749#5.1
export function tokenAnswer(
  tokens: VendorTokens,
  vendor: string,
  connection: string,
  callbackData: Readonly<Record<string, string>> = {},
): TokenAnswer {
  return {
    access_token: tokens.accessToken,
    token_type: tokens.tokenType,
    ...(tokens.expiresInSeconds === undefined ? {} : { expires_in: tokens.expiresInSeconds }),
    ...(tokens.refreshToken === undefined ? {} : { refresh_token: tokens.refreshToken }),
    // An empty string is not a scope (rfc6749#3.3 requires at least one token), and strict clients
    // refuse it.
    ...(tokens.scope === undefined || tokens.scope.length === 0 ? {} : { scope: formatScope(tokens.scope) }),
    ...(tokens.idToken === undefined ? {} : { vendor_id_token: tokens.idToken.raw }),
    vendor,
    connection,
    vendor_data: { ...callbackData, ...tokens.vendorData },
  };
}
