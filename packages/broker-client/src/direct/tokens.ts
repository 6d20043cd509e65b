/** The vendor's tokens, as oauth-core has them, as this package's Tokens. */
import { defined } from "@oauth-broker/oauth-core";
import { formatScope } from "@oauth-broker/oauth-core/protocol";
import type { ResolvedVendor, VendorTokens } from "@oauth-broker/oauth-core/registry";
import type { Tokens } from "../types.ts";

export interface Origin {
  readonly vendor: ResolvedVendor;
  readonly connection: string;
  /** When the request was sent. */
  readonly at: number;
}

export function tokensOf(tokens: VendorTokens, { vendor, connection, at }: Origin): Tokens {
  const { accessToken, tokenType, expiresInSeconds, refreshToken, scope, vendorData, idToken } = tokens;
  return {
    accessToken,
    tokenType,
    ...(expiresInSeconds === undefined ? {} : { expiresAt: at + expiresInSeconds }),
    ...defined({ refreshToken }),
    ...(scope === undefined || scope.length === 0 ? {} : { scope: formatScope(scope) }),
    vendor: vendor.id,
    connection,
    vendorData,
    ...(idToken === undefined ? {} : { vendorIdToken: idToken.raw }),
  };
}
