import { newIdTokenKey, signIdToken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../config.ts";
import { as, errorOf, registeringBroker } from "../testing/registering-broker.ts";
import { ISSUER, NOW, type TestBrokerOptions, testVendor } from "../testing/test-broker.ts";

describe("who may register, and where", () => {
  const only = (entry: VendorConfig): TestBrokerOptions => ({ config: { vendors: new Map([["acme", entry]]) } });
  const known = { ...testVendor({ issuer: "https://acme.example" }), registersNoClients: true };
  const UNSUPPORTED = { error: "invalid_request", reason: "registration_not_supported" };

  it.each<[string, TestBrokerOptions, string, object]>([
    ["an unknown vendor", {}, "unknown", { error: "invalid_request" }],
    ["a disabled one", { vendor: { enabled: false } }, "acme", { error: "invalid_request" }],
    ["one the client may not use", { client: { vendors: ["rival"] } }, "acme", { error: "unauthorized_client" }],
    ["one without a registration endpoint", only(testVendor()), "acme", UNSUPPORTED],
    ["one that is known to register no clients: its metadata is not fetched", only(known), "acme", UNSUPPORTED],
  ])("is not %s, and nothing is sent", async (_title, options, vendor, members) => {
    const { register, seen } = await registeringBroker(options);
    const response = await register({ vendor });
    expect([response.status, await response.json()]).toMatchObject([400, members]);
    expect(seen).toEqual([]);
  });

  it("is a vendor that takes no new authorizations, too: the credentials are the caller's own", async () => {
    const { register } = await registeringBroker({ vendor: { acceptsNewAuthorizations: false } });
    expect((await register()).status).toBe(201);
  });

  it("needs credentials, right ones, and before anything is said about the body", async () => {
    const { register, asked } = await registeringBroker();
    for (const headers of [{}, { authorization: "Basic eDp5" }, { authorization: "Bearer x" }]) {
      const response = await register("no json", headers);
      expect(response.headers.get("www-authenticate")).toMatch(/^Basic /);
      expect(await errorOf(response)).toEqual({ status: 401, error: "invalid_client" });
    }
    expect(asked).toEqual([]);
  });

  it("takes a client assertion as bearer token, once", async () => {
    const key = newIdTokenKey("ES256", "1");
    const jwks = { keys: [{ ...key.publicJwk, kty: "EC" }] };
    const { register, app } = await registeringBroker({ client: { secretDigests: [], jwks } });
    const bearer = async (jti: string): Promise<{ authorization: string }> => {
      const claims = { iss: "platform", sub: "platform", aud: ISSUER, iat: NOW, exp: NOW + 60, jti };
      return { authorization: `Bearer ${await signIdToken(claims, key)}` };
    };
    const headers = await bearer("1");
    expect((await register(undefined, headers)).status).toBe(201);
    expect((await register(undefined, headers)).status).toBe(401);
    const vendor = async (by: Record<string, string>): Promise<unknown> =>
      (await app.request(`${ISSUER}/v1/vendors/acme`, { headers: by })).json();
    expect(await vendor(await bearer("2"))).toMatchObject({ approved: true });
    expect(await vendor({})).not.toHaveProperty("approved");
  });

  it("needs no credentials in the sandbox, but checks those that are presented", async () => {
    const { register, lines } = await registeringBroker({ config: { sandbox: true } });
    expect((await register(undefined, {})).status).toBe(201);
    expect(lines.join("")).toContain('"client_id":"platform"');
    expect((await register(undefined, { authorization: "Basic eDp5" })).status).toBe(401);
  });
});

describe("the body", () => {
  it.each([
    ["nothing", ""],
    ["no JSON", "vendor=acme"],
    ["a list", '["acme"]'],
    ["null", "null"],
    ["a text", '"acme"'],
    ["two of them", '{"vendor":"acme"}{"vendor":"acme"}'],
    ["no vendor", "{}"],
    ["an empty vendor", '{"vendor":""}'],
    ["a vendor that is no text", '{"vendor":["acme"]}'],
    ["a vendor twice", '{"vendor":"acme","vendor":"acme"}'],
    ["a vendor twice, once with an escape", '{"vendor":"acme","\\u0076endor":"acme"}'],
    ["another member twice", '{"vendor":"acme","x":1,"x":2}'],
    ["a prototype", '{"vendor":"acme","__proto__":{"vendor":"x"}}'],
    ["a token that is no text", '{"vendor":"acme","initial_access_token":{}}'],
    ["a token with a line break", '{"vendor":"acme","initial_access_token":"a\\r\\nx: y"}'],
    ["a token with a space", '{"vendor":"acme","initial_access_token":"a b"}'],
    ["a token without end", `{"vendor":"acme","initial_access_token":"${"x".repeat(4097)}"}`],
    ["depth without end", `{"vendor":"acme","x":${"[".repeat(40)}${"]".repeat(40)}}`],
    ["an inherited name", '{"toString":"acme"}'],
  ])("bar#HT-3 is refused where it is %s", async (_title, body) => {
    const { register, asked } = await registeringBroker();
    expect(await errorOf(await register(body))).toEqual({ status: 400, error: "invalid_request" });
    expect(asked).toEqual([]);
  });

  it.each([
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["text that a page may send without asking", { "content-type": "text/plain" }],
    ["another charset", { "content-type": "application/json; charset=utf-16" }],
  ])("bar#HT-2 is refused as %s", async (_title, headers) => {
    const { register } = await registeringBroker();
    const response = await register(undefined, { ...as("platform"), ...headers });
    expect(await errorOf(response)).toEqual({ status: 415, error: "invalid_request" });
  });

  it("bar#HT-1 is refused where it is too long", async () => {
    const { register } = await registeringBroker({ limits: { bodyBytes: 1024 } });
    expect((await register({ vendor: "acme", x: "x".repeat(1024) })).status).toBe(413);
  });
});

describe("how often", () => {
  it("bar#DC-6 is limited per client, apart from pushed requests, and says when to come back", async () => {
    const { register, push } = await registeringBroker({ limits: { vendorCallsPerMinute: 2 } });
    expect([(await register()).status, (await register()).status]).toEqual([201, 201]);
    const third = await register();
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await errorOf(third)).toEqual({ status: 429, error: "slow_down" });
    expect((await register(undefined, as("other"))).status).toBe(201);
    expect((await push()).response.status).toBe(201);
  });

  it("bar#DC-6 is limited to sixty a minute, unless calls to vendors are not limited", async () => {
    const limited = await registeringBroker();
    const statuses: number[] = [];
    for (let at = 0; at < 61; at += 1) statuses.push((await limited.register()).status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
    const open = await registeringBroker({ limits: { vendorCallsPerMinute: 0 } });
    for (let at = 0; at < 61; at += 1) expect((await open.register()).status).toBe(201);
  });
});
