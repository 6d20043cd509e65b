import { describe, expect, it } from "vitest";
import { OAuthError } from "@oauth-broker/oauth-core";
import { expectError, expectPage, readAnswer } from "@oauth-broker/oauth-core/testing";
import {
  basic,
  CLIENT_SECRET,
  ISSUER,
  testBroker,
  type TestBrokerOptions,
  testVendor,
} from "../testing/test-broker.ts";

const credentials = { authorization: basic("platform", CLIENT_SECRET) };

interface Body {
  readonly error: string;
  readonly vendors: readonly { readonly id: string; readonly approved?: boolean }[];
}
const bodyOf = async (response: Response): Promise<Body> => (await response.json()) as Body;

async function askedBroker(options: TestBrokerOptions = {}) {
  const broker = await testBroker(options);
  const ask = async (path: string, headers: Record<string, string> = {}, method = "GET") =>
    broker.app.request(`${ISSUER}${path}`, { method, headers });
  const statusOf = async (path: string): Promise<number> => (await ask(path)).status;
  return { ...broker, ask, statusOf };
}

describe("what anyone may ask", () => {
  it("describes vendors, and to an authenticated client whether it is approved", async () => {
    const unapproved = { ...testVendor({ id: "later", name: "Later" }), setup: "vendor_approval" as const };
    const { ask } = await askedBroker({
      config: {
        vendors: new Map([
          ["acme", testVendor({ issuer: "https://acme.example" })],
          ["later", unapproved],
          ["hidden", testVendor({ id: "hidden", enabled: false })],
        ]),
      },
    });
    const anonymous = await bodyOf(await ask("/v1/vendors"));
    expect(anonymous.vendors.map(({ id }) => id)).toEqual(["acme", "later", "hidden"]);
    expect(anonymous.vendors[0]).toEqual({
      id: "acme",
      name: "Acme",
      enabled: true,
      accepts_new_authorizations: true,
      verification: "operator",
      capabilities: { pkce: "S256", oidc: true, dcr: false, refresh: true, revocation: true, byoc: true },
      setup: "none",
      clients_of: "vendor",
      placeholders: {},
      default_scopes: ["read"],
    });
    expect(anonymous.vendors[2]).toMatchObject({ enabled: false });
    expect(JSON.stringify(anonymous)).not.toContain("vendor secret");
    const known = await bodyOf(await ask("/v1/vendors", credentials));
    expect(known.vendors.map(({ approved }) => approved)).toEqual([true, false, true]);
    expect((await ask("/v1/vendors", { authorization: "Basic eDp5" })).status).toBe(401);
    for (const id of ["r3flect", "%E0%A4%A"]) {
      expectError(await readAnswer(await ask(`/v1/vendors/${id}`)), 404, "not_found");
    }
  });

  it("is ready only while store and keys are, and never once it drains", async () => {
    const { ask, statusOf, deps, drain } = await askedBroker();
    const down = async (): Promise<never> => Promise.reject(new OAuthError("temporarily_unavailable", "down"));
    expect(await statusOf("/readyz")).toBe(200);
    const { ping } = deps.records;
    Object.assign(deps.records, { ping: down });
    expectError(await readAnswer(await ask("/readyz")), 503, "temporarily_unavailable");
    expect(await statusOf("/healthz")).toBe(200);
    Object.assign(deps.records, { ping });
    Object.assign(deps.keyset, { isLoaded: () => false, load: down });
    expect(await statusOf("/readyz")).toBe(503);
    Object.assign(deps.keyset, { isLoaded: () => true });
    expect(await statusOf("/readyz")).toBe(200);
    drain();
    expect(await statusOf("/readyz")).toBe(503);
  });

  it("starts no flow while the store is closed, and is alive", async () => {
    const { statusOf, deps, push } = await askedBroker();
    await deps.records.close();
    const { response, body } = await push();
    expect([response.status, body["error"]]).toEqual([503, "temporarily_unavailable"]);
    expect(await statusOf("/healthz")).toBe(200);
  });

  it("answers JSON or a page by the Accept header, with Allow where the method is wrong", async () => {
    const { ask } = await askedBroker();
    for (const path of ["/nowhere", "/v2/par", "/v1", "/V1/authorize", "//v1/authorize", "/v1/token/r3flect"]) {
      expectError(await readAnswer(await ask(path)), 404, "not_found");
      expectPage(await readAnswer(await ask(path, { accept: "text/html" })), 404);
    }
    // A visitor there is a browser, whatever its Accept header says.
    for (const path of ["authorize/", "callback/a", "callback/a/b", "custom/a", "custom/a/callback/b"]) {
      expectPage(await readAnswer(await ask(`/v1/${path}`)), 404);
    }
    for (const path of ["/v1/par", "/v1/explain", "/v1/token", "/v1/revoke"]) {
      const wrong = await readAnswer(await ask(path));
      expectError(wrong, 405, "method_not_allowed");
      expect(wrong.headers.get("allow")).toBe("POST");
    }
  });

  it("counts requests by route pattern and refusals by reason", async () => {
    const { ask, park, redeem } = await askedBroker();
    await ask("/v1/callback?code=c&state=canary");
    await ask("/canary/path?x=canary");
    await ask("/v1/par", {}, "PURGE");
    await redeem(await park());
    const answer = await ask("/metrics");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
    const metrics = await answer.text();
    expect(metrics).toContain('http_requests_total{route="/v1/token",method="POST",status="200"} 1');
    expect(metrics).toContain('broker_vendor_calls_total{vendor="acme",operation="redeem",outcome="ok"} 1');
    expect(metrics).toContain("http_request_duration_seconds_bucket");
    expect(metrics).toContain('broker_refusals_total{leg="callback",reason="state_invalid"} 1');
    expect(metrics).toContain('http_requests_total{route="/v1/callback",method="GET",status="400"} 1');
    expect(metrics).not.toMatch(/canary|PURGE/);
  });

  it("bar#HT-10 tells browsers to stay on https", async () => {
    const { ask } = await askedBroker();
    expect((await ask("/")).headers.get("strict-transport-security")).toContain("max-age=");
  });
});

describe("ways back from a dead end", () => {
  it("leads to initiate_login_uri where the client has one, else to its own front page", async () => {
    const client = { initiateLoginUri: "https://platform.example/connect", name: "The Platform" };
    const started = await testBroker({ client });
    for (const query of ["", "?code=r3flect", "?state=", "?error=access_denied&error_description=r3flect"]) {
      const { html } = await started.get(`/v1/callback${query}`);
      expect(html).toContain('href="https://platform.example/connect"');
      expect(html).toContain("<code>state_missing</code>");
    }
    // No flow names its client here, and another than the one that can start may have sent the user.
    const unknown = await started.get("/v1/callback?state=r3flect");
    expect(unknown.html).toContain("start again from the application that sent you here");
    expect(unknown.html).not.toContain("href=");
    const { state: late, cookie } = await started.start();
    started.now.advance(600);
    expect((await started.callback({ state: late, code: "c" }, cookie)).html).toContain(
      'href="https://platform.example/connect">Back to The Platform',
    );
    const { start, callback } = await testBroker();
    const { state } = await start();
    expect((await callback({ state, code: "c" })).html).toContain('href="https://platform.example/"');
  });

  it("links to no client when the flow is unknown and several clients are configured", async () => {
    const { ask } = await askedBroker();
    const html = await (await ask("/v1/callback?code=c")).text();
    expect(html).not.toContain("href=");
    expect(html).toContain("open the application you want to use the vendor with");
  });
});
