/**
 * A flow at an MCP server: its live metadata has to have the endpoints of its entry, and nothing is
 * sent where it differs. The twin is in oauth-core: vendor-client/discovery/live.twin.test.ts.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import { expect, it } from "vitest";
import { issueTokens, testBroker, testVendor } from "../testing/test-broker.ts";

const ISSUER = "https://auth.acme.example";
const METADATA = `${ISSUER}/.well-known/oauth-authorization-server`;
const SERVER = "https://mcp.acme.example/mcp";
const RESOURCE = "https://mcp.acme.example/.well-known/oauth-protected-resource/mcp";
const EVIL = "https://evil.example";
const STORED = {
  authorizationEndpoint: `${ISSUER}/authorize`,
  tokenEndpoint: `${ISSUER}/token`,
  registrationEndpoint: `${ISSUER}/register`,
};
const SAME = {
  issuer: ISSUER,
  authorization_endpoint: STORED.authorizationEndpoint,
  token_endpoint: STORED.tokenEndpoint,
  registration_endpoint: STORED.registrationEndpoint,
};

async function serverBroker() {
  const documents = new Map<string, () => Response>([
    [METADATA, () => Response.json(SAME)],
    [RESOURCE, () => Response.json({ resource: SERVER, authorization_servers: [ISSUER] })],
  ]);
  const vendorAnswers: Fetch = async (input, init) => {
    if (init?.method === "POST") return issueTokens(input);
    return documents.get(String(input))?.() ?? new Response("", { status: 404 });
  };
  const vendor = testVendor({ ...STORED, issuer: ISSUER, issuesIdTokens: false, serverUrl: SERVER });
  const broker = await testBroker({ config: { vendors: new Map([["acme", vendor]]) }, vendorAnswers });
  return {
    ...broker,
    publish: (changes: object, url = METADATA) =>
      void documents.set(url, () => Response.json({ ...(url === METADATA ? SAME : {}), ...changes })),
    cut: () => documents.set(METADATA, () => new Response("", { status: 503 })),
    posted: () => broker.seen.flatMap(({ url, form }) => (form.has("grant_type") ? [url] : [])),
  };
}

it.each<[string, string, object, string]>([
  ["another endpoint", "endpoint_mismatch", { token_endpoint: `${ISSUER}/moved/token` }, METADATA],
  ["one of another party", "endpoint_mismatch", { token_endpoint: `${EVIL}/token` }, METADATA],
  ["another issuer", "issuer_mismatch", { issuer: EVIL }, METADATA],
  [
    "a server that names another issuer",
    "issuer_mismatch",
    { resource: SERVER, authorization_servers: [EVIL] },
    RESOURCE,
  ],
])(
  "bar#DI-1 bar#BY-4 a difference is a 502 and a line of the log on every leg: %s",
  async (_, reason, changes, url) => {
    const broker = await serverBroker();
    const { start, callback, redeem, refresh, connect, park, push, publish, posted, seen, lines, now, get } = broker;
    const { connection } = await connect();
    const { state, cookie } = await start();
    const code = await park();
    const before = posted().length;
    publish(changes, url);
    now.advance(600);
    const { response, body } = await push();
    expect([response.status, body]).toMatchObject([502, { error: "vendor_response_invalid", reason }]);
    expect(lines.join()).toContain(`"reason":"${reason}"`);
    expect((await get("/metrics")).html).toContain(
      'broker_vendor_calls_total{vendor="acme",operation="discover",outcome="vendor_response_invalid"}',
    );
    expect((await refresh({ connection })).response.status).toBe(502);
    // Flows that are under way end, too.
    await callback({ state, code: "vendor-code" }, cookie);
    expect((await redeem(code)).response.status).not.toBe(200);
    expect(posted()).toHaveLength(before);
    expect(JSON.stringify(seen)).not.toMatch(/evil|moved/);
  },
);

it("names the field, and what an operator may state", async () => {
  const { publish, push, lines } = await serverBroker();
  publish({ token_endpoint: `${ISSUER}/moved/token` });
  await push();
  expect(lines.join()).toContain("vendors.acme.token_endpoint");
});

it("works where there is no metadata", async () => {
  const { cut, start } = await serverBroker();
  cut();
  expect((await start()).location?.href).toContain(STORED.authorizationEndpoint);
});
