import type { Context } from "hono";
import { expect, it } from "vitest";
import type { HostedSettings } from "../settings.ts";
import { CALLBACK, openHostedFixture, UNASKED_VENDOR, VERIFIER } from "../testing/hosted-fixture.ts";
import { NO_LIMITS } from "../testing/hosted-settings.ts";
import { createCallerAddress } from "../caller-address.ts";

const from = (remoteAddress: string, forwarded?: string): Context =>
  ({ env: { incoming: { socket: { remoteAddress } } }, req: { header: () => forwarded } }) as unknown as Context;

it.each([
  ["no proxy is trusted", "203.0.113.9", "1.1.1.1", [], "203.0.113.9"],
  ["the peer is no proxy of ours", "203.0.113.9", "1.1.1.1", ["10.0.0.0/8"], "203.0.113.9"],
  ["one proxy", "10.0.0.1", "203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"],
  ["one proxy, seen as IPv6", "::ffff:10.0.0.1", "203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"],
  ["two proxies", "10.0.0.1", "203.0.113.9, 10.2.0.1", ["10.0.0.0/8"], "203.0.113.9"],
  ["what the caller wrote comes before", "10.0.0.1", "1.1.1.1, 203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"],
  ["an IPv6 network is one caller", "2001:db8:1:2:3:4:5:6", undefined, [], "2001:db8:1:2::/64"],
  ["the same network, shorter", "2001:DB8:1:2::1", undefined, [], "2001:db8:1:2::/64"],
  ["zeros that are left out", "2001:0db8::7", undefined, [], "2001:db8:0:0::/64"],
  ["an IPv6 caller behind a proxy", "fd00::1", "2001:db8::1:2:3", ["fd00::/8"], "2001:db8:0:0::/64"],
  ["zeros in the middle", "2001::3:4:5:6:7", undefined, [], "2001:0:0:3::/64"],
  ["loopback", "::1", undefined, [], "0:0:0:0::/64"],
  ["nothing was forwarded", "10.0.0.1", undefined, ["10.0.0.0/8"], "10.0.0.1"],
  ["a proxy that appends the port too", "10.0.0.1", "203.0.113.9:49152", ["10.0.0.0/8"], "203.0.113.9"],
  ["its IPv6", "10.0.0.1", "[2001:db8:1:2::9]:49152", ["10.0.0.0/8"], "2001:db8:1:2::/64"],
  ["IPv6 in brackets alone", "10.0.0.1", "[2001:db8:1:2::9]", ["10.0.0.0/8"], "2001:db8:1:2::/64"],
  [
    "a trusted proxy with its port, behind another",
    "10.0.0.1",
    "203.0.113.9:49152, 10.0.0.2:49153",
    ["10.0.0.0/8"],
    "203.0.113.9",
  ],
])("bar#ST-8 the address is the one nearest that is not ours: %s", (_what, peer, forwarded, trusted, expected) => {
  expect(createCallerAddress(trusted)(from(peer, forwarded))).toBe(expected);
});

/** Every request comes over one proxy, which reports its peer. */
function serve(limits: Partial<HostedSettings["limits"]>, changes: Partial<HostedSettings> = {}) {
  const settings = { limits: { ...NO_LIMITS, ...limits }, ...changes };
  const fixture = openHostedFixture({ vendor: UNASKED_VENDOR, settings });
  const ask = (path: string, address: string, init: RequestInit = {}): Promise<Response> =>
    fixture.request(
      path,
      { ...init, headers: { ...(init.headers as object), "x-forwarded-for": address } },
      "127.0.0.1",
    );
  return { ...fixture, ask };
}

const BEHIND_PROXY = { trustedProxies: ["127.0.0.0/8"] };
const form = (fields: Record<string, string>): RequestInit => ({ method: "POST", body: new URLSearchParams(fields) });

it("bar#ST-8 counts the OAuth paths per address, whatever address a caller claims", async () => {
  const { ask, close } = serve({ requestsPerMinute: 2 });
  const statuses = [];
  for (const index of [1, 2, 3]) statuses.push((await ask("/authorize", `198.51.100.${index}`)).status);
  expect(statuses).toEqual([400, 400, 429]);
  expect((await ask("/authorize", "198.51.100.4")).headers.get("retry-after")).toMatch(/^\d+$/);
  await close();
});

it("bar#ST-8 counts only refused requests at /token and /revoke, also at once (#11)", async () => {
  const { ask, down, close } = serve({ requestsPerMinute: 2, ...BEHIND_PROXY });
  const client = { client_id: "platform" };
  // Revoking an unknown token is a success.
  for (let index = 0; index < 5; index += 1)
    expect((await ask("/revoke", "198.51.100.1", form({ ...client, token: "none" }))).status).toBe(200);
  down.add("records");
  const outage = form({
    ...client,
    grant_type: "authorization_code",
    code: "c",
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
  });
  for (let index = 0; index < 3; index += 1) expect((await ask("/token", "198.51.100.1", outage)).status).toBe(503);
  down.delete("records");
  const refused = Array.from({ length: 30 }, () => ask("/token", "198.51.100.1", form({ a: "b" })));
  const statuses = (await Promise.all(refused)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 400)).toHaveLength(2);
  expect(statuses.filter((status) => status === 429)).toHaveLength(28);
  expect((await ask("/revoke", "198.51.100.1", form({ ...client, token: "none" }))).status).toBe(429);
  expect((await ask("/revoke", "198.51.100.2", form({ ...client, token: "none" }))).status).toBe(200);
  await close();
});

it("bar#ST-8 bar#AS-12 counts stored clients per address, not refused ones, for a minute (#11)", async () => {
  const callback: HostedSettings["callback"] = {
    kind: "server",
    redirectUri: "https://server.example/callback",
    clients: [],
    registration: { hosts: [] },
    clientMetadataHosts: [],
  };
  const { ask, clock, close } = serve({ registrationsPerMinute: 3, ...BEHIND_PROXY }, { callback });
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: ["https://app.example/back"], client_name: "App" }),
  };
  const invalid = { ...init, body: "{}" };
  for (let index = 0; index < 5; index += 1) expect((await ask("/register", "198.51.100.1", invalid)).status).toBe(400);
  const statuses = [];
  for (let index = 0; index < 6; index += 1) statuses.push((await ask("/register", "198.51.100.1", init)).status);
  expect(statuses).toEqual([201, 201, 201, 429, 429, 429]);
  expect((await ask("/register", "198.51.100.1", init)).headers.get("retry-after")).toBe("60");
  expect((await ask("/register", "198.51.100.2", init)).status).toBe(201);
  clock.advance(60);
  expect((await ask("/register", "198.51.100.1", init)).status).toBe(201);
  await close();
});
