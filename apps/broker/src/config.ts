/**
 * Reads the configuration, once, for main.ts: a YAML file, and a few environment variables that
 * override it. With neither of them the broker runs the sandbox. This is the only file that reads
 * process.env; the rest of the reader is in config/. load.ts has the order of the steps.
 */
import type { Environment } from "@oauth-broker/service/configuration";

export { buildVendors } from "./config/build.ts";
export { describeConfiguration, type FieldDescription } from "./config/schema/describe.ts";
export { configurationJsonSchema } from "./config/schema/json-schema.ts";
export { loadConfig } from "./config/load.ts";
export { type ConfigError, configError, isConfigError, type Problem } from "./config/problems.ts";
export type { Environment } from "@oauth-broker/service/configuration";
export type * from "./config-types.ts";
export type { SandboxUse } from "./config/source.ts";
export type { VendorRegistry } from "./config/vendors/vendors.ts";

/** The environment of the process, for `loadConfig`. No other code reads process.env. */
export function readEnvironment(): Environment {
  return process.env;
}
