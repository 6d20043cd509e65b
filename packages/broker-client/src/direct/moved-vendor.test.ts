/** A vendor whose endpoints have changed since its tokens were issued: no token is sent there. */
import type { Fetch } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { codeFor, directClient, VENDOR } from "../testing/direct-client.ts";
import type { DirectClient, Vendor } from "./index.ts";

const own: Vendor = { ...VENDOR, revocationEndpoint: "https://vendor.example/revoke" };
const changed = expect.objectContaining({
  code: "invalid_grant",
  details: expect.objectContaining({ reason: "connection_endpoint_changed" }),
});

const now = fixedClock(1_700_000_000);
let asked: string[];
beforeEach(() => {
  asked = [];
});

const vendorAnswers: Fetch = async (input) => {
  const { href, pathname } = new URL(input instanceof Request ? input.url : input);
  asked.push(href);
  if (pathname === "/introspect") return Response.json({ active: true, scope: "read", exp: now() + 9 });
  return pathname === "/revoke"
    ? new Response(null, { status: 200 })
    : Response.json({ access_token: "at", token_type: "Bearer", expires_in: 60 });
};

const clientOf = (changes: Partial<Vendor> = {}): DirectClient =>
  directClient({ vendor: { ...own, ...changes }, now, fetch: vendorAnswers });

async function connectionOf(client: DirectClient): Promise<string> {
  const { session } = await client.start({});
  const { connection } = await client.finish(codeFor(session), session);
  asked.length = 0;
  return connection;
}

const connectionWith = (members: object): string => Buffer.from(JSON.stringify(members)).toString("base64url");
/** As the previous release wrote it: without the host of the revocation endpoint. */
const olderConnection = connectionWith({ v: 1, vendor: "own", clientId: "deployment", hosts: ["vendor.example"] });

describe("a direct client whose vendor moved", () => {
  it("bar#BY-4 revokes at the host that the connection knows, and at no other", async () => {
    const connection = await connectionOf(clientOf());
    const moved = clientOf({ revocationEndpoint: "https://moved.example/revoke" });
    await expect(moved.revoke({ token: "t", connection })).rejects.toThrow(changed);
    expect(asked).toEqual([]);
    await clientOf().revoke({ token: "t", connection });
    expect(asked).toEqual(["https://vendor.example/revoke"]);
  });

  it.each<Partial<Vendor>>([
    { tokenEndpoint: "https://moved.example/token" },
    { refreshEndpoint: "https://moved.example/refresh" },
  ])("bar#BY-4 refreshes nothing at %j", async (changes) => {
    const connection = await connectionOf(clientOf());
    const refreshed = await clientOf(changes).refresh({ refreshToken: "rt", connection });
    expect(refreshed.outcome).toBe("reauthorize");
    expect(asked).toEqual([]);
  });

  it("bar#BY-4 checks a token at no host that the connection does not know", async () => {
    const here = { introspectionEndpoint: "https://check.vendor.example/introspect" };
    const connection = await connectionOf(clientOf(here));
    const checked = await clientOf(here).check({ accessToken: "at", connection, scope: "read write" });
    const scopes = { scope: "read", missingScope: "write" };
    expect(checked).toEqual({ active: true, checkedBy: "introspection", ...scopes, expiresAt: now() + 9 });
    expect(asked).toEqual([here.introspectionEndpoint]);
    const moved = clientOf({ introspectionEndpoint: "https://moved.example/introspect" });
    expect(await moved.check({ accessToken: "at", connection })).toEqual({ active: null, checkedBy: "none" });
    expect(asked).toEqual([here.introspectionEndpoint]);
  });

  it("checks a token of the release before once a refresh has pinned the hosts", async () => {
    const client = clientOf({ introspectionEndpoint: "https://check.vendor.example/introspect" });
    const whole = JSON.parse(Buffer.from(await connectionOf(client), "base64url").toString()) as object;
    const connection = connectionWith({ ...whole, checkHosts: undefined });
    expect(await client.check({ accessToken: "at", connection })).toEqual({ active: null, checkedBy: "none" });
    const refreshed = await client.refresh({ refreshToken: "rt", connection });
    if (refreshed.outcome !== "ok") throw new Error(refreshed.outcome);
    const request = { accessToken: "at", connection: refreshed.tokens.connection };
    expect(await client.check(request)).toMatchObject({ active: true });
    const again = await client.refresh({ refreshToken: "rt", connection: request.connection });
    expect(again).toMatchObject({ tokens: { connection: request.connection } });
  });

  it("checks no empty token, and none of another vendor", async () => {
    const connection = await connectionOf(clientOf());
    const invalid = { code: "invalid_request" };
    await expect(clientOf().check({ accessToken: "", connection })).rejects.toMatchObject(invalid);
    await expect(clientOf({ id: "other" }).check({ accessToken: "at", connection })).rejects.toMatchObject(invalid);
    expect(asked).toEqual([]);
  });

  it("takes the connection of the release before, and answers a refresh with one of today", async () => {
    const refreshed = await clientOf().refresh({ refreshToken: "rt", connection: olderConnection });
    if (refreshed.outcome !== "ok") throw new Error(refreshed.outcome);
    const moved = clientOf({ revocationEndpoint: "https://moved.example/revoke" });
    await expect(moved.revoke({ token: "t", connection: refreshed.tokens.connection })).rejects.toThrow(changed);
    expect(await moved.revoke({ token: "t", connection: olderConnection })).toMatchObject({ outcome: "revoked" });
  });
});

it("a direct client starts nothing at an MCP server whose live metadata has another endpoint", async () => {
  const issuer = "https://vendor.example";
  const client = directClient({
    vendor: { ...own, issuer, issuesIdTokens: false, serverUrl: "https://mcp.vendor.example" },
    fetch: async (input) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (pathname !== "/.well-known/oauth-authorization-server") return new Response("", { status: 404 });
      return Response.json({ issuer, authorization_endpoint: `${issuer}/moved`, token_endpoint: own.tokenEndpoint });
    },
  });
  await expect(client.start({})).rejects.toThrow("another authorization_endpoint");
});
