/**
 * The same interface as createBrokerClient's, without a broker. Uses oauth-core's code, which
 * requires oauth-core's Node version (its package.json, and that of undici): Node 20 is not enough
 * here.
 */
export { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
export { direct, type DirectClient, type DirectOptions } from "./client.ts";
export { type DirectVendor, type DirectVendorOptions, directVendor } from "./vendor.ts";
