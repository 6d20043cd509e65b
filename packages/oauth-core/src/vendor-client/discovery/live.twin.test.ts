/**
 * The twin of live.test.ts and discover.test.ts: with one check of metadata off, another endpoint than
 * the vendor's gets the user's code and our secret; with it on, nothing leaves.
 */
import { systemTimer } from "../../mechanics/system-timer.ts";
import { expect, it } from "vitest";
import type { Fetch } from "../../ports.ts";
import { Secret } from "../../protocol/secret.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { weaken } from "../../testing/weaken.ts";
import { defineVendor, type Vendor } from "../../registry/vendor.ts";
import { createVendorClient } from "../index.ts";
import * as document from "./document.ts";
import * as live from "./live.ts";

const ISSUER = "https://auth.v.example";
const DISCOVERED = defineVendor({ id: "v", name: "V", issuer: ISSUER, issuesIdTokens: false });
const STORED = {
  ...DISCOVERED,
  serverUrl: "https://mcp.v.example/mcp",
  authorizationEndpoint: `${ISSUER}/a`,
  tokenEndpoint: "https://left.example/t",
};

/** @returns where a code and a secret went, by what the vendor's well-known address answers */
async function attack(vendor: Vendor, changes: object): Promise<readonly string[]> {
  const metadata = { issuer: ISSUER, authorization_endpoint: `${ISSUER}/a`, token_endpoint: `${ISSUER}/t`, ...changes };
  const sent: string[] = [];
  const fetch: Fetch = async (input, init) => {
    const url = String(input);
    if (init?.method === "POST") {
      sent.push(url);
      return Response.json({ access_token: "at", token_type: "Bearer" });
    }
    const isThere = url === `${ISSUER}/.well-known/oauth-authorization-server`;
    return isThere ? Response.json(metadata) : new Response("", { status: 404 });
  };
  const client = createVendorClient({
    fetch,
    timer: systemTimer,
    now: fixedClock(1_700_000_000),
    allowLoopback: false,
  });
  const credentials = { id: "2026", source: "shared", clientId: "c", clientSecret: new Secret("s") } as const;
  const redirectUri = "https://broker.example/v1/callback";
  const flow = async (): Promise<void> => {
    const resolved = await client.resolve(vendor);
    await client.redeemCode(resolved, credentials, { code: "c", redirectUri, codeVerifier: "v".repeat(43), scope: [] });
  };
  await flow().catch(() => undefined);
  return sent;
}

it("bar#DI-1 twin: without the check, metadata of another issuer takes the code", async () => {
  const evil = { issuer: "https://evil.example", token_endpoint: "https://evil.example/t" };
  expect(await attack(DISCOVERED, evil)).toEqual([]);
  weaken(document, () => ({ requireMetadataOf: () => Promise.resolve() }));
  expect(await attack(DISCOVERED, evil)).toEqual(["https://evil.example/t"]);
});

it("bar#BY-4 twin: without the comparison, an endpoint that the vendor has left gets the code", async () => {
  expect(await attack(STORED, {})).toEqual([]);
  weaken(live, () => ({ requireStoredEndpoints: () => {} }));
  expect(await attack(STORED, {})).toEqual(["https://left.example/t"]);
});
