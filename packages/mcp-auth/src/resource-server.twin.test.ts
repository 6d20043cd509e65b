/**
 * The twins of app.test.ts and of the bearer checks' tests: with one defence of `/mcp` off, the attack
 * succeeds.
 */
import * as server from "@oauth-broker/oauth-core/authorization-server";
import { weaken } from "@oauth-broker/oauth-core/testing";
import * as service from "@oauth-broker/service/http";
import { describe, expect, it } from "vitest";
import * as bearer from "./mcp/admission/bearer.ts";
import * as hosts from "./mcp/admission/known-host.ts";
import { HOSTED, PRE_REGISTERED } from "./testing/environments.ts";
import { openTestApp } from "./testing/test-app.ts";
import { validatingVendor } from "./testing/vendors/validating-vendor.ts";

describe("with a defence off", () => {
  it("a page of another name reaches the server in the user's browser (twin of bar#RS-7)", async () => {
    weaken(hosts, () => ({ createKnownHost: () => () => true }));
    await using app = await openTestApp({ ...PRE_REGISTERED, DEPLOYMENT_URL: HOSTED.DEPLOYMENT_URL });
    const headers = { host: "evil.example", origin: "https://evil.example" };
    expect((await app.ask("/mcp", { method: "POST", headers }, "https://evil.example")).status).toBe(401);
  });

  it("a page of any origin reads what a server with a list answers (twin of bar#HT-8)", async () => {
    weaken(service, ({ createCors }) => ({ createCors: () => createCors(["*"]) }));
    await using app = await openTestApp({ ...PRE_REGISTERED, ALLOWED_ORIGINS: "https://app.example" });
    const answer = await app.ask("/mcp", { method: "POST", headers: { origin: "https://evil.example" } });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([401, "*"]);
  });

  it("a caller without a token learns by HEAD of a method, not a challenge (twin of bar#RS-1)", async () => {
    weaken(bearer, () => ({ requireCaller: async () => ({ caller: {} }) as never }));
    await using app = await openTestApp(PRE_REGISTERED);
    const answer = await app.ask("/mcp", { method: "HEAD" });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([405, null]);
  });

  it("one user is answered as another where validations are not kept by token (twin of bar#RS-8)", async () => {
    weaken(server, () => ({ hashOf: () => "one for all" }));
    const { authenticate } = validatingVendor((token) => ({ active: true, user: `user of ${token}` }));
    await authenticate("alice's");
    expect(await authenticate("bob's")).toMatchObject({ user: "user of alice's" });
  });
});
