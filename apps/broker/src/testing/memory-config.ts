/** The configuration of a broker in memory, as if its file said nothing but what a test needs. */
import { createHash } from "node:crypto";
import type { ClientConfig, Config } from "../config-types.ts";

export const ISSUER = "https://broker.example";

export const TEST_LIMITS: Config["limits"] = {
  parPerMinute: 600,
  explainPerMinute: 60,
  vendorCallsPerMinute: 6000,
  bodyBytes: 65_536,
};

export function memoryConfig(changes: Partial<Config> & Pick<Config, "clients" | "vendors">): Config {
  return {
    sandbox: false,
    baseUrl: ISSUER,
    listen: { host: "127.0.0.1", port: 0, trustedProxies: [] },
    store: { kind: "memory" },
    keys: { kind: "store" },
    audit: { kind: "off" },
    owners: [],
    limits: TEST_LIMITS,
    egress: { allowLoopback: false, allowCidrs: [], timeoutMs: 10_000 },
    warnings: [],
    ...changes,
  };
}

export function confidentialClient(clientId: string, secret: string, redirectUri: string): ClientConfig {
  return {
    clientId,
    secretDigests: [createHash("sha256").update(secret).digest()],
    redirectUris: [redirectUri],
    browserBinding: "required",
    allowOverrides: true,
    approvedVendors: [],
  };
}
