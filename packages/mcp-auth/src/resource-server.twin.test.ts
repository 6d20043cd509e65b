/**
 * The twins of app.test.ts and of the bearer checks' tests: with one defence of `/mcp` off, the attack
 * succeeds.
 */
import type * as Server from "@oauth-broker/oauth-core/server";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type * as Service from "@oauth-broker/service/http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
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
    const { openTestApp } = await import("./testing/test-app.ts");
    await using app = await openTestApp({ ...PRE_REGISTERED, DEPLOYMENT_URL: HOSTED.DEPLOYMENT_URL });
    const headers = { host: "evil.example", origin: "https://evil.example" };
    expect((await app.ask("/mcp", { method: "POST", headers }, "https://evil.example")).status).toBe(401);
  });

  it("a page of any origin reads what a server with a list answers (twin of bar#HT-8)", async () => {
    vi.doMock(SERVICE, async (original) => {
      const service = await original<typeof Service>();
      return { ...service, createCors: () => service.createCors(["*"]) };
    });
    const { openTestApp } = await import("./testing/test-app.ts");
    await using app = await openTestApp({ ...PRE_REGISTERED, ALLOWED_ORIGINS: "https://app.example" });
    const answer = await app.ask("/mcp", { method: "POST", headers: { origin: "https://evil.example" } });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([401, "*"]);
  });

  it("a caller without a token learns by HEAD of a method, not a challenge (twin of bar#RS-1)", async () => {
    vi.doMock(BEARER, () => ({ requireCaller: async () => ({ caller: {} }) }));
    const { openTestApp } = await import("./testing/test-app.ts");
    await using app = await openTestApp(PRE_REGISTERED);
    const answer = await app.ask("/mcp", { method: "HEAD" });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([405, null]);
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
