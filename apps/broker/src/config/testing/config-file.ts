/** Configuration files for tests: each in its own folder, which is removed afterwards. */
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import { stringify } from "yaml";
import {
  type Config,
  type ConfigError,
  type Environment,
  isConfigError,
  loadConfig,
  type VendorConfig,
  type VendorRegistry,
  type VendorTemplate,
} from "../../config.ts";
import { expectAgreement } from "./agreement.ts";

export const SECRET = "0123456789abcdef0123456789abcdef";

export const CLIENT = {
  client_id: "platform",
  client_secret: SECRET,
  redirect_uris: ["https://acme.platform.example/oauth/vendor-callback"],
};

export const MINIMAL = { base_url: "https://broker.example.com", clients: [CLIENT] };

/**
 * @param files by path relative to the folder, which is also the start directory of `loadConfig`
 */
export function folderOf(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export interface LoadOptions {
  readonly env?: Environment;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly registry?: VendorRegistry;
}

/** A registry of one vendor, at ID.example unless a test says otherwise. */
export function registryOf(
  vendor: Partial<Vendor> & Pick<Vendor, "id">,
  entry: Partial<VendorTemplate> = {},
): ReadonlyMap<string, VendorTemplate> {
  const { id } = vendor;
  const at = `https://${id}.example`;
  const endpoints = { authorizationEndpoint: `${at}/authorize`, tokenEndpoint: `${at}/token` };
  const known = defineVendor({ name: id, ...endpoints, ...vendor });
  return new Map([[id, { vendor: known, placeholders: {}, setup: "none", byoc: true, ...entry }]]);
}

/** Loads these fields (or this text) as broker.yaml in its own folder; its schema has to agree. */
export function load(
  fields: object | string,
  { env = {}, files = {}, registry = new Map() }: LoadOptions = {},
): Config {
  const text = typeof fields === "string" ? fields : stringify(fields);
  const folder = folderOf({ ...files, "broker.yaml": text });
  try {
    const config = loadConfig(env, folder, { registry });
    expectAgreement(text, []);
    return config;
  } catch (error) {
    if (isConfigError(error)) expectAgreement(text, error.problems);
    throw error;
  }
}

/** Returns the error that `run` throws; fails the test when it throws nothing or another error. */
export function refusalOf(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (isConfigError(error)) return error;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

/** Returns `path problem` for every problem of these fields over a minimal valid configuration. */
export function problemsOf(fields: object, options?: LoadOptions): string[] {
  return refusalOf(() => load({ ...MINIMAL, ...fields }, options)).problems.map(
    ({ path, problem }) => `${path} ${problem}`,
  );
}

/** The minimum for a vendor that the operator adds. */
export const OWN_VENDOR = {
  name: "My Vendor",
  authorization_endpoint: "https://vendor.example/authorize",
  token_endpoint: "https://vendor.example/token",
};

/** Returns the vendor that these fields make over `OWN_VENDOR`. */
export function ownVendor(
  fields: object,
  { egress = {}, ...options }: LoadOptions & { egress?: object } = {},
): VendorConfig | undefined {
  const vendors = { "my-vendor": { ...OWN_VENDOR, ...fields } };
  return load({ ...MINIMAL, vendors, egress }, options).vendors.get("my-vendor");
}

/** Like `problemsOf`, for these fields of a vendor; `…` is replaced by its path. */
export function problemsOfOwnVendor(fields: object, options?: LoadOptions): string[] {
  const problems = problemsOf({ vendors: { "my-vendor": { ...OWN_VENDOR, ...fields } } }, options);
  return problems.map((problem) => problem.replace("vendors.my-vendor", "…"));
}
