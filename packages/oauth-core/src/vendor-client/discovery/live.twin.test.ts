/**
 * The twin of live.test.ts: with one check of live metadata off, the same attack gets the user's
 * code and our secret; with it on, nothing leaves.
 */
import { systemTimer } from "../../mechanics/system-timer.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Fetch } from "../../ports.ts";
import { Secret } from "../../protocol/secret.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { defineVendor } from "../../registry/vendor.ts";
import { createVendorClient } from "../index.ts";
import type * as document from "./document.ts";
import type * as live from "./live.ts";

const off = vi.hoisted(() => new Set<string>());
vi.mock("./document.ts", async (original) => {
  const known = await original<typeof document>();
  const findMetadata: typeof known.findMetadata = (issuer, first, deps) =>
    known.findMetadata(issuer, first, deps, off.has("issuer") ? () => Promise.resolve() : undefined);
  return { ...known, findMetadata };
});
vi.mock("./live.ts", async (original) => {
  const known = await original<typeof live>();
  const atHostsOf: typeof known.atHostsOf = (vendor, metadata) =>
    off.has("hosts") ? metadata : known.atHostsOf(vendor, metadata);
  const requireStoredEndpoints: typeof known.requireStoredEndpoints = (vendor, metadata) => {
    if (!off.has("stored")) known.requireStoredEndpoints(vendor, metadata);
  };
  return { ...known, atHostsOf, requireStoredEndpoints };
});

const ISSUER = "https://auth.v.example";
const VENDOR = defineVendor({
  id: "v",
  name: "V",
  issuer: ISSUER,
  issuesIdTokens: false,
  serverUrl: "https://mcp.v.example/mcp",
  endpointsFrom: "metadata, else stored",
  authorizationEndpoint: `${ISSUER}/a`,
  tokenEndpoint: `${ISSUER}/t`,
});

/** @returns where a code and a secret went, by what the vendor's well-known address answers */
async function attack(metadata: object, entry = VENDOR): Promise<readonly string[]> {
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
    const vendor = await client.resolve(entry);
    await client.redeemCode(vendor, credentials, { code: "c", redirectUri, codeVerifier: "v".repeat(43), scope: [] });
  };
  await flow().catch(() => undefined);
  return sent;
}

afterEach(() => off.clear());

describe("without the check the attack succeeds, with it it does not:", () => {
  it.each<[string, string, object, string]>([
    [
      "the issuer",
      "issuer",
      { issuer: "https://evil.v.example", authorization_endpoint: `${ISSUER}/a`, token_endpoint: `${ISSUER}/evil/t` },
      `${ISSUER}/evil/t`,
    ],
    [
      "the hosts",
      "hosts",
      { issuer: ISSUER, authorization_endpoint: `${ISSUER}/a`, token_endpoint: "https://evil.example/t" },
      "https://evil.example/t",
    ],
  ])("bar#DI-1 bar#BY-4 twin: %s", async (_, check, metadata, target) => {
    expect(await attack(metadata)).toEqual([]);
    off.add(check);
    expect(await attack(metadata)).toEqual([target]);
  });

  it("bar#BY-4 twin: an endpoint of the entry that its vendor has left", async () => {
    const { endpointsFrom: _from, ...stored } = VENDOR;
    const entry = { ...stored, tokenEndpoint: "https://left.example/t" };
    const metadata = { issuer: ISSUER, authorization_endpoint: `${ISSUER}/a`, token_endpoint: `${ISSUER}/t` };
    expect(await attack(metadata, entry)).toEqual([]);
    off.add("stored");
    expect(await attack(metadata, entry)).toEqual(["https://left.example/t"]);
  });
});
