/** Counts every call to a vendor and how it ended, without the vendor client knowing. */
import { type RegistrationAnswer, toOAuthError, type VendorClient } from "@oauth-broker/oauth-core";
import type { Metrics } from "./metrics.ts";

/** A refusal is passed on, not thrown: only its status says what came of it. */
function registrationOutcome({ status }: RegistrationAnswer): string {
  return status < 400 ? "ok" : status < 500 ? "refused" : "failed";
}

export function countedVendorClient(client: VendorClient, metrics: Metrics): VendorClient {
  const counted = async <T>(
    vendor: string,
    operation: "redeem" | "refresh" | "revoke" | "register" | "userinfo",
    call: Promise<T>,
    outcomeOf: (result: T) => string = () => "ok",
  ): Promise<T> => {
    try {
      const result = await call;
      metrics.countVendorCall(vendor, operation, outcomeOf(result));
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
    identify: (vendor, ...rest) => counted(vendor.id, "userinfo", client.identify(vendor, ...rest)),
    registerClient: (vendor, request) =>
      counted(vendor.id, "register", client.registerClient(vendor, request), registrationOutcome),
  };
}
