/**
 * Environments with which a server starts, for tests to change, and how one is refused. The
 * operator defines the vendor.
 */
import { type ConfigError, isConfigError } from "@oauth-broker/service/configuration";
import { type Environment, loadSettings } from "../config.ts";
import type { HostedSettings } from "../settings.ts";

const OWN = {
  VENDOR: "my-vendor",
  VENDOR_AUTHORIZATION_URL: "https://vendor.example.com/authorize",
  VENDOR_TOKEN_URL: "https://vendor.example.com/token",
  VENDOR_USERINFO_URL: "https://vendor.example.com/userinfo",
};

export const PRE_REGISTERED = { OAUTH_MODE: "pre-registered", ...OWN };

/** With the platform's callback. */
export const HOSTED = {
  OAUTH_MODE: "hosted",
  DEPLOYMENT_URL: "https://server.example.com",
  PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example.com/oauth/callback",
  VENDOR_CLIENT_ID: "our-id",
  VENDOR_CLIENT_SECRET: "our-secret",
  DATA_DIR: "/nowhere",
  TRUSTED_PROXIES: "10.0.0.0/8",
  ...OWN,
};

/** With the server's own callback. */
export const SERVER = { ...HOSTED, OAUTH_CALLBACK: "server" };

/** Several vendors: users sign in at `main`, which the operator defines, and link another. */
export const SEVERAL = {
  OAUTH_MODE: "hosted",
  DEPLOYMENT_URL: "https://server.example.com",
  OAUTH_CLIENT_METADATA_HOSTS: "client.example.com",
  DATA_DIR: "/nowhere",
  TRUSTED_PROXIES: "10.0.0.0/8",
  VENDORS: "main,slack",
  VENDOR_MAIN_ISSUER: "https://main.example.com",
  VENDOR_MAIN_AUTHORIZATION_URL: "https://main.example.com/authorize",
  VENDOR_MAIN_TOKEN_URL: "https://main.example.com/token",
  VENDOR_MAIN_CLIENT_ID: "our-id",
  VENDOR_MAIN_CLIENT_SECRET: "our-secret",
  VENDOR_MAIN_SCOPES: "openid read",
  VENDOR_SLACK_CLIENT_ID: "our-slack-id",
  VENDOR_SLACK_CLIENT_SECRET: "our-slack-secret",
};

/** Applied over the others: the vendor is then one of the registry. */
export const NO_URLS = { VENDOR_AUTHORIZATION_URL: "", VENDOR_TOKEN_URL: "", VENDOR_USERINFO_URL: "" };

/** @throws Error when its mode is another */
export function loadHosted(environment: Environment): HostedSettings {
  const settings = loadSettings(environment);
  if (settings.mode !== "hosted") throw new Error("not hosted");
  return settings;
}

/** @throws Error when `load` accepts what it is given */
export function refusalOf(load: () => unknown): ConfigError {
  try {
    load();
  } catch (error) {
    if (isConfigError(error)) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

/** One line for each problem. */
export function problemsOf(environment: Environment): string[] {
  return refusalOf(() => loadSettings(environment)).problems.map(({ path, problem }) => `${path} ${problem}`);
}
