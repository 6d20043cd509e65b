import { defineVendor, type ResolvedVendor } from "../../registry/vendor.ts";

/** @returns a vendor that was never discovered, with these fields and endpoints of its own */
export const resolvedVendor = (fields: Partial<ResolvedVendor> = {}): ResolvedVendor => ({
  ...defineVendor({ id: "v", name: "V" }),
  authorizationEndpoint: "https://v.example/a",
  tokenEndpoint: "https://v.example/t",
  issExpected: false,
  ...fields,
});
