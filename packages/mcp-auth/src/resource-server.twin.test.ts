/**
 * The twins of app.test.ts and of the bearer checks' tests: with one defence of `/mcp` off, the attack
 * succeeds.
 */
import type * as Server from "@oauth-broker/oauth-core/server";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type * as Service from "@oauth-broker/service/http";
import { createLog } from "@oauth-broker/service";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadSettings } from "./config.ts";
import { HOSTED, PRE_REGISTERED } from "./testing/environments.ts";

const SERVER = "@oauth-broker/oauth-core/server";
const SERVICE = "@oauth-broker/service/http";
const KNOWN_HOST = "./mcp/admission/known-host.ts";
const BEARER = "./mcp/admission/bearer.ts";

beforeEach(() => {
  vi.resetModules();
});
afterEach(() => {
  vi.doUnmock(SERVER);
  vi.doUnmock(KNOWN_HOST);
  vi.doUnmock(BEARER);
  vi.doUnmock(SERVICE);
});

describe("with a defence off", () => {
  it("a page of another name reaches the server in the user's browser (twin of bar#RS-7)", async () => {
    vi.doMock(KNOWN_HOST, async (original) => ({ ...(await original<object>()), createKnownHost: () => () => true }));
    const { createApp } = await import("./app.ts");
    const settings = loadSettings({ ...PRE_REGISTERED, DEPLOYMENT_URL: HOSTED.DEPLOYMENT_URL });
    const log = createLog({ write: () => undefined });
    const definition = { name: "test", version: "1.0.0", tools: [] };
    const server = createApp(definition, settings, { now: fixedClock(1_700_000_000), log, storage: undefined });
    const headers = { host: "evil.example", origin: "https://evil.example" };
    const { status } = await server.app.request("https://evil.example/mcp", { method: "POST", headers });
    expect(status).toBe(401);
    await server.close();
  });

  it("a page of any origin reads what a server with a list answers (twin of bar#HT-8)", async () => {
    vi.doMock(SERVICE, async (original) => {
      const service = await original<typeof Service>();
      return { ...service, createCors: () => service.createCors(["*"]) };
    });
    const { createApp } = await import("./app.ts");
    const log = createLog({ write: () => undefined });
    const settings = loadSettings({ ...PRE_REGISTERED, ALLOWED_ORIGINS: "https://app.example" });
    const options = { now: fixedClock(1_700_000_000), log, storage: undefined };
    const server = createApp({ name: "test", version: "1.0.0", tools: [] }, settings, options);
    const headers = { host: "127.0.0.1", origin: "https://evil.example" };
    const answer = await server.app.request("http://127.0.0.1/mcp", { method: "POST", headers });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([401, "*"]);
    await server.close();
  });

  it("a caller without a token learns by HEAD of a method, not a challenge (twin of bar#RS-1)", async () => {
    vi.doMock(BEARER, () => ({ requireCaller: async () => ({ caller: {} }) }));
    const { createApp } = await import("./app.ts");
    const log = createLog({ write: () => undefined });
    const definition = { name: "test", version: "1.0.0", tools: [] };
    const options = { now: fixedClock(1_700_000_000), log, storage: undefined };
    const server = createApp(definition, loadSettings(PRE_REGISTERED), options);
    const answer = await server.app.request("http://127.0.0.1/mcp", { method: "HEAD", headers: { host: "127.0.0.1" } });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([405, null]);
    await server.close();
  });

  it("one user is answered as another where validations are not kept by token (twin of bar#RS-8)", async () => {
    vi.doMock(SERVER, async (original) => ({ ...(await original<typeof Server>()), hashOf: () => "one for all" }));
    const { createAuthenticate } = await import("./pre-registered/authenticate.ts");
    const authenticate = createAuthenticate({
      settings: { credentials: undefined },
      vendor: async () => ({ id: "example" }) as ResolvedVendor,
      vendorClient: { validateAccessToken: async (_, token) => ({ active: true, user: `user of ${token}` }) },
      now: fixedClock(1_700_000_000),
    });
    await authenticate("alice's");
    expect(await authenticate("bob's")).toMatchObject({ user: "user of alice's" });
  });
});
