/**
 * The configuration, read once in main.ts: a YAML file, a few variables over it, or nothing at all,
 * which is the sandbox. The only reader of process.env; the rest is in config/. Order of reading:
 * load.ts.
 */
import type { Environment } from "@oauth-broker/oauth-core/configuration";

export { buildVendors } from "./config/build.ts";
export { describeConfiguration, type FieldDescription } from "./config/schema/describe.ts";
export { loadConfig } from "./config/load.ts";
export { type ConfigError, configError, isConfigError, type Problem } from "./config/problems.ts";
export type { Environment } from "@oauth-broker/oauth-core/configuration";
export type * from "./config/types.ts";
export type { VendorRegistry } from "./config/vendors/vendors.ts";

/** The process's environment, for `loadConfig`. Nothing else touches process.env. */
export function readEnvironment(): Environment {
  return process.env;
}
