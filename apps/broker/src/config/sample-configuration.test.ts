import { generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import { load, SECRET } from "./testing/config-file.ts";

/**
 * A complete sample configuration, comments included, with vendors of its own instead of the
 * registry's and a key for encrypted answers.
 */
const SAMPLE = `
base_url: https://broker.example.com        # or BASE_URL; http only on loopback
listen: { host: 127.0.0.1, port: 8787 }     # or HOST, PORT
store: sqlite:./data/broker.sqlite           # or memory: · dynamodb:TABLE?region=eu-west-1&endpoint=...   or STORE
keys: store                                  # default: a keyset in the store, sealed by a key file beside it; or file:PATH; or kms:ARN
cell: eu1                                    # optional prefix of every id
owners: [ { id: acme, name: Acme Corp, approved_vendors: [google-workspace] } ]    # optional; see setup: vendor_approval
clients:
  - client_id: platform
    owner: acme
    client_secret: env:PLATFORM_SECRET       # held as SHA-256; under 32 characters is a warning
    redirect_uris: [https://acme.platform.example/oauth/vendor-callback]
    vendors: [my-vendor, other-vendor]       # omit = all
    browser_binding: required                # or \`platform\` where the callback is proxied
    allow_overrides: true                    # manual mode
    token_encrypted_response_alg: ECDH-ES    # optional, needs jwks
    jwks: file:platform-jwks.json
vendors:
  my-vendor: { name: My Vendor, authorization_endpoint: https://vendor.example/authorize, token_endpoint: https://vendor.example/token, pkce: S256, credentials: [ { id: 2026-11, client_id: env:MY_CLIENT_ID, client_secret: env:MY_CLIENT_SECRET } ] }
  other-vendor: { name: Other, issuer: https://other.example, initial_access_token: env:OTHER_IAT, enabled: true }
limits: { par_per_minute: 600, explain_per_minute: 60, vendor_calls_per_minute: 6000, body_bytes: 65536 }   # per client; vendor_calls: token, revoke, register together; 0 = off; beyond: 429 + Retry-After
egress: { allow_loopback: false, allow_cidrs: [], timeout_ms: 10000, ca_file: null, proxy: null }   # allow_cidrs: operator-configured private networks
`;
const ENV = {
  PLATFORM_SECRET: SECRET,
  MY_CLIENT_ID: "broker",
  MY_CLIENT_SECRET: "vendor-secret",
  OTHER_IAT: "iat",
  VENDOR_OTHER_VENDOR_CLIENT_ID: "from-environment",
  VENDOR_OTHER_VENDOR_CLIENT_SECRET: "s",
};

const KEY = { ...generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }), use: "enc" };
const PARTS = { env: ENV, files: { "platform-jwks.json": JSON.stringify({ keys: [KEY] }) } };

it("loads a complete sample, as an operator would copy it", () => {
  const config = load(SAMPLE, PARTS);
  expect(config).toMatchObject({
    baseUrl: "https://broker.example.com",
    listen: { host: "127.0.0.1", port: 8787, maxConnections: 2000, idleSeconds: 65, trustedProxies: [] },
    store: { kind: "sqlite" },
    keys: { kind: "store" },
    cell: "eu1",
    owners: [{ id: "acme", name: "Acme Corp", approvedVendors: ["google-workspace"] }],
    clients: [{ clientId: "platform", owner: "acme", vendors: ["my-vendor", "other-vendor"], allowOverrides: true }],
    limits: { parPerMinute: 600, explainPerMinute: 60, vendorCallsPerMinute: 6000, bodyBytes: 65_536 },
    egress: { allowLoopback: false, allowCidrs: [], timeoutMs: 10_000 },
  });
  expect(config.clients[0]?.encryptedResponse).toEqual({ alg: "ECDH-ES", enc: "A256GCM", key: KEY });
  expect(config.vendors.get("my-vendor")).toMatchObject({
    vendor: { pkce: "S256" },
    credentials: [{ id: "2026-11", clientId: "broker", source: "shared" }],
  });
  expect(config.vendors.get("other-vendor")).toMatchObject({
    vendor: { issuer: "https://other.example", enabled: true },
    credentials: [{ clientId: "from-environment", source: "environment" }],
  });
  expect(config.warnings).toEqual([
    "approved_vendors names google-workspace, which is not a known vendor",
    expect.stringContaining("Vendor my-vendor is one of your own and shares the callback with other-vendor"),
    expect.stringContaining("Vendor other-vendor is one of your own and shares the callback with my-vendor"),
  ]);
});

it("takes a table and a KMS key in place of the file", () => {
  const key = "arn:aws:kms:eu-west-1:111122223333:alias/oauth-broker";
  const text = SAMPLE.replace(
    "store: sqlite:./data/broker.sqlite",
    "store: dynamodb:flows?region=eu-west-1&endpoint=https://dynamodb.eu-west-1.amazonaws.com",
  ).replace("keys: store ", `keys: kms:${key} `);
  expect(load(text, PARTS)).toMatchObject({
    store: { kind: "dynamodb", table: "flows", region: "eu-west-1" },
    keys: { kind: "kms", keyArn: key },
  });
});

it.each(["https://broker.example.com", "http://127.0.0.1:8787"])(
  "takes what the comments offer instead, at %s",
  (url) => {
    const text = SAMPLE.replace("store: sqlite:./data/broker.sqlite", 'store: "memory:"')
      .replace("keys: store ", "keys: file:keys.json ")
      .replace("browser_binding: required", "browser_binding: platform")
      .replace("base_url: https://broker.example.com", "# base_url from BASE_URL");
    expect(load(text, { ...PARTS, env: { ...ENV, BASE_URL: url } })).toMatchObject({
      baseUrl: url,
      store: { kind: "memory" },
      keys: { kind: "file" },
      clients: [{ browserBinding: "platform" }],
    });
  },
);
