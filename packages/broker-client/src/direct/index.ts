/**
 * The same interface as createBrokerClient's, without a broker. On oauth-core's code, which wants the Node that oauth-core wants
 * (package.json of it, and of undici): Node 20 is not enough here.
 */
export { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
export { direct, type DirectClient, type DirectOptions } from "./client.ts";
export type { DirectVendorOptions } from "./vendor.ts";
