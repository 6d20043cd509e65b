/** What oauth-core has from the vendor, as this package's Tokens and Checked. */
import { defined } from "@oauth-broker/oauth-core";
import type { AccessTokenCheck } from "@oauth-broker/oauth-core/vendor-client";
import { formatScope } from "@oauth-broker/oauth-core/protocol";
import type { ResolvedVendor, VendorTokens } from "@oauth-broker/oauth-core/registry";
import { parseMembers } from "../json.ts";
import type { Checked, Tokens } from "../types.ts";

export interface Origin {
  readonly vendor: ResolvedVendor;
  readonly connection: string;
  /** When the request was sent. */
  readonly at: number;
}

export function tokensOf(tokens: VendorTokens, { vendor, connection, at }: Origin): Tokens {
  const { accessToken, tokenType, expiresInSeconds, refreshToken, scope, vendorData, idToken } = tokens;
  const { refreshExpiresInSeconds } = tokens;
  return {
    accessToken,
    tokenType,
    ...(expiresInSeconds === undefined ? {} : { expiresAt: at + expiresInSeconds }),
    ...defined({ refreshToken }),
    ...(refreshExpiresInSeconds === undefined ? {} : { refreshTokenExpiresAt: at + refreshExpiresInSeconds }),
    ...(scope === undefined || scope.length === 0 ? {} : { scope: formatScope(scope) }),
    vendor: vendor.id,
    connection,
    // As from the broker: numbers beyond 2^53 are texts.
    vendorData: parseMembers(JSON.stringify(vendorData)) ?? {},
    ...(idToken === undefined ? {} : { vendorIdToken: idToken.raw }),
  };
}

/** @param at when the vendor was asked */
export function checkedOf(found: AccessTokenCheck, at: number): Checked {
  const { scope, missingScope, expiresInSeconds, ...rest } = found;
  return {
    ...rest,
    ...(scope === undefined ? {} : { scope: formatScope(scope) }),
    ...(missingScope === undefined ? {} : { missingScope: formatScope(missingScope) }),
    ...(expiresInSeconds === undefined ? {} : { expiresAt: at + expiresInSeconds }),
  };
}
