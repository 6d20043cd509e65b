/** A broker in memory for tests: one client, one vendor without a network, a clock that stands still. */
import { createHash } from "node:crypto";
import { defineVendor, Secret } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { type Broker, createBroker } from "../app.ts";
import type { Config } from "../config.ts";
import { createLog } from "../log.ts";

export const CLIENT_SECRET = "s".repeat(43);
export const REDIRECT_URI = "https://platform.example/cb";

export const TEST_CONFIG: Config = {
  sandbox: false,
  baseUrl: "https://broker.example",
  listen: { host: "127.0.0.1", port: 0 },
  store: { kind: "memory" },
  keys: { kind: "store" },
  owners: [],
  clients: [
    {
      clientId: "platform",
      secretDigests: [createHash("sha256").update(CLIENT_SECRET).digest()],
      redirectUris: [REDIRECT_URI],
      browserBinding: "required",
      allowOverrides: true,
      approvedVendors: [],
    },
  ],
  vendors: new Map([
    [
      "acme",
      {
        vendor: defineVendor({
          id: "acme",
          name: "Acme",
          authorizationEndpoint: "https://acme.example/authorize",
          tokenEndpoint: "https://acme.example/token",
          defaultScopes: ["read"],
        }),
        placeholders: {},
        setup: "none",
        credentials: [{ id: "2026", source: "shared", clientId: "ours", clientSecret: new Secret("vendor secret") }],
      },
    ],
  ]),
  limits: { parPerMinute: 600, bodyBytes: 65_536 },
  egress: { allowLoopback: false, allowCidrs: [], timeoutMs: 10_000 },
  warnings: [],
};

export async function testBroker(
  overrides: Partial<Config> = {},
): Promise<Broker & { readonly now: ReturnType<typeof fixedClock>; readonly lines: string[] }> {
  const now = fixedClock(1_700_000_000);
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const broker = await createBroker({ ...TEST_CONFIG, ...overrides }, { now, log });
  await broker.deps.keyset.load();
  return { ...broker, now, lines };
}
