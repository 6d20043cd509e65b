import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it, vi } from "vitest";
import { as, errorOf, REGISTERED, registeringBroker } from "../testing/registering-broker.ts";
import { ISSUER, type TestBrokerOptions, testVendor } from "../testing/test-broker.ts";

describe("what is registered", () => {
  it("rfc7591#2 is our callback and contains nothing from the caller", async () => {
    const { register, asked } = await registeringBroker();
    const response = await register({
      vendor: "acme",
      redirect_uris: ["https://evil.example/cb"],
      client_name: "Evil",
      scope: "admin",
      token_endpoint_auth_method: "none",
      registration_endpoint: "https://evil.example/register",
    });
    expect(response.status).toBe(201);
    expect(asked).toEqual([
      {
        url: "https://acme.example/register",
        authorization: null,
        body: {
          client_name: "OAuth broker",
          redirect_uris: [`${ISSUER}/v1/callback`],
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: "client_secret_basic",
          application_type: "web",
          scope: "read",
        },
      },
    ]);
  });

  it("is new each time, and the broker keeps nothing of it", async () => {
    let serial = 0;
    const { register, asked, deps } = await registeringBroker({
      answer: () => Response.json({ client_id: `c${(serial += 1)}` }),
    });
    const written = [vi.spyOn(deps.records, "create"), vi.spyOn(deps.records, "advance")];
    const answers = await Promise.all([register(), register(), register()]);
    const registered = ["c1", "c2", "c3"].map((client_id) => ({ client_id }));
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(registered);
    expect(asked).toHaveLength(3);
    for (const write of written) expect(write).not.toHaveBeenCalled();
  });
});

describe("the initial access token", () => {
  const registering = testVendor({ registrationEndpoint: "https://acme.example/register" });
  const ofOwner = { initialAccessTokens: new Map([["acme", new Secret("owner-iat")]]) };
  const config = { vendors: new Map([["acme", { ...registering, initialAccessToken: new Secret("vendor-iat") }]]) };

  it.each<[string, TestBrokerOptions, object, string | null]>([
    ["no token when no one has one", {}, {}, null],
    ["the vendor's", { config }, {}, "Bearer vendor-iat"],
    ["the owner's before the vendor's", { config, client: ofOwner }, {}, "Bearer owner-iat"],
    ["the caller's before all", { config, client: ofOwner }, { initial_access_token: "my-iat" }, "Bearer my-iat"],
    ["the configured one where the caller's is empty", { config }, { initial_access_token: "" }, "Bearer vendor-iat"],
  ])("is %s", async (_title, options, members, expected) => {
    const { register, asked } = await registeringBroker(options);
    expect((await register({ vendor: "acme", ...members })).status).toBe(201);
    expect(asked.map(({ authorization }) => authorization)).toEqual([expected]);
  });

  it("bar#BY-4 goes to the vendor it was entered for, and serves the owner it was entered for", async () => {
    const vendors = new Map(
      ["acme", "rival"].map((id) => [
        id,
        testVendor({ id, name: id, registrationEndpoint: `https://${id}.example/register` }),
      ]),
    );
    const { register, asked } = await registeringBroker({ config: { vendors }, client: ofOwner });
    await register({ vendor: "rival" });
    await register({ vendor: "acme" }, as("other"));
    await register({ vendor: "acme" });
    expect(asked.map(({ url, authorization }) => [new URL(url).host, authorization])).toEqual([
      ["rival.example", null],
      ["acme.example", null],
      ["acme.example", "Bearer owner-iat"],
    ]);
  });
});

describe("the vendor's answer", () => {
  it.each([
    [201, "application/json", REGISTERED],
    [200, "text/html", "<script>alert(1)</script>"],
    [400, "application/json", '{"error":"invalid_redirect_uri"}'],
    [401, "text/plain", ""],
    [429, "application/problem+json", "{}"],
    [503, "text/html; charset=utf-8", "<h1>down</h1>"],
  ])(
    "rfc7591#3.2.1 rfc7591#3.2.2 of %i %s travels with its status, type and body alone",
    async (status, type, body) => {
      const headers = {
        "content-type": type,
        location: "https://evil.example",
        "set-cookie": "a=b",
        "www-authenticate": "Bearer",
        "retry-after": "9",
        "cache-control": "public",
        "access-control-allow-origin": "*",
      };
      const { register } = await registeringBroker({ answer: () => new Response(body, { status, headers }) });
      const response = await register();
      expect(response.status).toBe(status);
      expect(await response.text()).toBe(body);
      expect(Object.fromEntries(response.headers)).toEqual({
        "content-type": type,
        "cache-control": "no-store",
        "content-security-policy": expect.stringContaining("sandbox"),
        "referrer-policy": "no-referrer",
        "strict-transport-security": expect.any(String),
        "x-content-type-options": "nosniff",
      });
    },
  );

  it("is relayed byte for byte when it is not text", async () => {
    const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0xc3, 0x28]);
    const { register } = await registeringBroker({ answer: () => new Response(bytes, { status: 201 }) });
    const response = await register();
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.has("content-type")).toBe(false);
  });

  it("of 204 has no body", async () => {
    const { register } = await registeringBroker({ answer: () => new Response(null, { status: 204 }) });
    expect((await register()).status).toBe(204);
  });

  it.each([301, 307])("bar#EG-6 of %i is not an answer", async (status) => {
    const { register } = await registeringBroker({
      answer: () => new Response(null, { status, headers: { location: "https://x.example" } }),
    });
    expect(await errorOf(await register())).toEqual({ status: 502, error: "vendor_response_invalid" });
  });

  it("is in no line of the log, and counted by what came of it", async () => {
    const answers = [
      Response.json({ client_secret: "new-client-s3cret" }, { status: 201 }),
      Response.json({ error: "refused-s3cret" }, { status: 400 }),
      Response.json({}, { status: 500 }),
    ];
    const { register, app, lines } = await registeringBroker({ answer: () => answers.shift() ?? Response.error() });
    for (let left = 3; left > 0; left -= 1) await register({ vendor: "acme", initial_access_token: "iat-s3cret" });
    expect(lines.join("")).not.toContain("s3cret");
    const requests = lines
      .map((line) => JSON.parse(line) as { event: string })
      .filter(({ event }) => event === "request");
    expect(requests).toMatchObject([
      { event: "request", route: "/register", status: 201, client_id: "platform", vendor: "acme" },
      { route: "/register", status: 400, reason: "vendor_refused" },
      { level: "info", status: 500, reason: "vendor_refused" },
    ]);
    const metrics = await (await app.request(`${ISSUER}/metrics`)).text();
    for (const outcome of ["ok", "refused", "failed"]) {
      expect(metrics).toContain(`broker_vendor_calls_total{vendor="acme",operation="register",outcome="${outcome}"} 1`);
    }
    expect(metrics).toContain('broker_refusals_total{leg="register",reason="vendor_refused"} 2');
    expect(metrics).not.toContain("s3cret");
  });
});
