import { defineVendor, type ResolvedVendor } from "../../registry/vendor.ts";

/** @returns a vendor with two endpoints and these fields, as if nothing had been discovered */
export const resolvedVendor = (fields: Partial<ResolvedVendor> = {}): ResolvedVendor => ({
  ...defineVendor({ id: "v", name: "V" }),
  authorizationEndpoint: "https://v.example/a",
  tokenEndpoint: "https://v.example/t",
  issExpected: false,
  ...fields,
});
