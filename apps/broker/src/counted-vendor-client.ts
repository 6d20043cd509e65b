/** Counts every call to a vendor and how it ended, without the vendor client knowing. */
import { toOAuthError, type VendorClient } from "@oauth-broker/oauth-core";
import type { Metrics } from "./metrics.ts";

export function countedVendorClient(client: VendorClient, metrics: Metrics): VendorClient {
  const counted = async <T>(
    vendor: string,
    operation: "redeem" | "refresh" | "revoke",
    call: Promise<T>,
  ): Promise<T> => {
    try {
      const result = await call;
      metrics.countVendorCall(vendor, operation, "ok");
      return result;
    } catch (error) {
      metrics.countVendorCall(vendor, operation, toOAuthError(error).code);
      throw error;
    }
  };
  return {
    ...client,
    redeemCode: (vendor, ...rest) => counted(vendor.id, "redeem", client.redeemCode(vendor, ...rest)),
    refreshTokens: (vendor, ...rest) => counted(vendor.id, "refresh", client.refreshTokens(vendor, ...rest)),
    revokeToken: (vendor, ...rest) => counted(vendor.id, "revoke", client.revokeToken(vendor, ...rest)),
  };
}
