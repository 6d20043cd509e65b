import { generateKeyPairSync, sign } from "node:crypto";
import { type Fetch, Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { CLIENT_SECRET, ISSUER, NOW, testBroker, type TestBrokerOptions, testVendor } from "../testing/test-broker.ts";

const REGISTERED = JSON.stringify({
  client_id: "new-client",
  client_secret: "new-client-s3cret",
  registration_access_token: "rat-s3cret",
});
const basic = (id: string): string => `Basic ${Buffer.from(`${id}:${CLIENT_SECRET}`).toString("base64")}`;

interface Asked {
  readonly url: string;
  readonly authorization: string | null;
  readonly body: Record<string, unknown>;
}

/** A broker whose one vendor has a registration endpoint that answers as told. */
async function setUp(options: TestBrokerOptions & { readonly answer?: () => Response } = {}) {
  const asked: Asked[] = [];
  const vendorAnswers: Fetch = async (input, init = {}) => {
    const { body, headers } = init;
    const text = typeof body === "string" ? body : "{}";
    asked.push({
      url: String(input),
      authorization: new Headers(headers).get("authorization"),
      body: JSON.parse(text) as Record<string, unknown>,
    });
    const answer =
      options.answer ??
      (() => new Response(REGISTERED, { status: 201, headers: { "content-type": "application/json" } }));
    return answer();
  };
  const vendor = { registrationEndpoint: "https://acme.example/register", ...options.vendor };
  const broker = await testBroker({ ...options, vendor, vendorAnswers });
  const register = (
    body: unknown = { vendor: "acme" },
    headers: Record<string, string> = { authorization: basic("platform") },
  ): Promise<Response> =>
    Promise.resolve(
      broker.app.request(`${ISSUER}/register`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
  return { ...broker, asked, register };
}

const errorOf = async (response: Response) => ({
  status: response.status,
  error: ((await response.json()) as { error: string }).error,
});

describe("what is registered", () => {
  it("rfc7591#2 is our callback and nothing of the caller's", async () => {
    const { register, asked } = await setUp();
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

  it("is new each time, and nothing of it is kept", async () => {
    let serial = 0;
    const { register, asked, deps } = await setUp({ answer: () => Response.json({ client_id: `c${(serial += 1)}` }) });
    const written: string[] = [];
    const { create, advance } = deps.records;
    Object.assign(deps.records, {
      create: async (...call: Parameters<typeof create>) => {
        written.push("create");
        return create(...call);
      },
      advance: async (...call: Parameters<typeof advance>) => {
        written.push("advance");
        return advance(...call);
      },
    });
    const answers = await Promise.all([register(), register(), register()]);
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
      { client_id: "c1" },
      { client_id: "c2" },
      { client_id: "c3" },
    ]);
    expect(asked).toHaveLength(3);
    expect(written).toEqual([]);
  });
});

describe("the initial access token", () => {
  const ofOwner = { initialAccessTokens: new Map([["acme", new Secret("owner-iat")]]) };
  const ofVendor = {
    vendors: new Map([
      [
        "acme",
        {
          ...testVendor({ registrationEndpoint: "https://acme.example/register" }),
          initialAccessToken: new Secret("vendor-iat"),
        },
      ],
    ]),
  };

  it.each<[string, TestBrokerOptions, object, string | null]>([
    ["none where there is none", {}, {}, null],
    ["the vendor's", { config: ofVendor }, {}, "Bearer vendor-iat"],
    ["the owner's before the vendor's", { config: ofVendor, client: ofOwner }, {}, "Bearer owner-iat"],
    [
      "the caller's before all",
      { config: ofVendor, client: ofOwner },
      { initial_access_token: "my-iat" },
      "Bearer my-iat",
    ],
    [
      "the configured one where the caller's is empty",
      { config: ofVendor },
      { initial_access_token: "" },
      "Bearer vendor-iat",
    ],
  ])("is %s", async (_title, options, members, expected) => {
    const { register, asked } = await setUp(options);
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
    const { register, asked } = await setUp({ config: { vendors }, client: ofOwner });
    await register({ vendor: "rival" });
    await register({ vendor: "acme" }, { authorization: basic("other") });
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
    "rfc7591#3.2.1 rfc7591#3.2.2 of %i %s travels with its status, type and body, and nothing else",
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
      const { register } = await setUp({ answer: () => new Response(body, { status, headers }) });
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

  it("travels byte for byte where it is no text", async () => {
    const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0xc3, 0x28]);
    const { register } = await setUp({ answer: () => new Response(bytes, { status: 201 }) });
    const response = await register();
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.has("content-type")).toBe(false);
  });

  it("of 204 has no body", async () => {
    const { register } = await setUp({ answer: () => new Response(null, { status: 204 }) });
    expect((await register()).status).toBe(204);
  });

  it.each([301, 307])("bar#EG-6 of %i is no answer", async (status) => {
    const { register } = await setUp({
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
    const { register, app, lines } = await setUp({ answer: () => answers.shift() ?? Response.error() });
    for (let left = 3; left > 0; left -= 1) await register({ vendor: "acme", initial_access_token: "iat-s3cret" });
    expect(lines.join("")).not.toContain("s3cret");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
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

describe("who may register, and where", () => {
  it.each<[string, TestBrokerOptions, object, string]>([
    ["an unknown vendor", {}, { vendor: "nobody" }, "invalid_request"],
    ["a disabled one", { vendor: { enabled: false } }, { vendor: "acme" }, "invalid_request"],
    ["one the client may not use", { client: { vendors: ["rival"] } }, { vendor: "acme" }, "unauthorized_client"],
  ])("is not %s, and nobody is asked", async (_title, options, body, error) => {
    const { register, asked } = await setUp(options);
    expect(await errorOf(await register(body))).toEqual({ status: 400, error });
    expect(asked).toEqual([]);
  });

  it("is not a vendor without a registration endpoint", async () => {
    const { app, seen } = await testBroker();
    const response = await app.request(`${ISSUER}/register`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: basic("platform") },
      body: '{"vendor":"acme"}',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: "invalid_request", reason: "registration_not_supported" });
    expect(seen).toEqual([]);
  });

  it("is a vendor that takes no new authorizations, too: the credentials are the caller's own", async () => {
    const { register } = await setUp({ vendor: { acceptsNewAuthorizations: false } });
    expect((await register()).status).toBe(201);
  });

  it("needs credentials, right ones, and before anything is said about the body", async () => {
    const { register, asked } = await setUp();
    for (const headers of [{}, { authorization: "Basic eDp5" }, { authorization: "Bearer x" }]) {
      const response = await register("no json", headers);
      expect(response.headers.get("www-authenticate")).toMatch(/^Basic /);
      expect(await errorOf(response)).toEqual({ status: 401, error: "invalid_client" });
    }
    expect(asked).toEqual([]);
  });

  it("takes a client assertion as bearer token, once", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwks = { keys: [{ ...publicKey.export({ format: "jwk" }), kty: "EC", alg: "ES256", use: "sig" }] };
    const { register } = await setUp({ client: { secretDigests: [], jwks } });
    const claims = { iss: "platform", sub: "platform", aud: ISSUER, iat: NOW, exp: NOW + 60, jti: "1" };
    const signed = [{ alg: "ES256" }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
    const assertion = `${signed}.${signature.toString("base64url")}`;
    const headers = { authorization: `Bearer ${assertion}` };
    expect((await register(undefined, headers)).status).toBe(201);
    expect((await register(undefined, headers)).status).toBe(401);
  });

  it("in the sandbox needs none, but those presented must be right", async () => {
    const { register, lines } = await setUp({ config: { sandbox: true } });
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
    const { register, asked } = await setUp();
    expect(await errorOf(await register(body))).toEqual({ status: 400, error: "invalid_request" });
    expect(asked).toEqual([]);
  });

  it.each([
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["text that a page may send without asking", { "content-type": "text/plain" }],
    ["another charset", { "content-type": "application/json; charset=utf-16" }],
  ])("bar#HT-2 is refused as %s", async (_title, headers) => {
    const { register } = await setUp();
    const response = await register(undefined, { authorization: basic("platform"), ...headers });
    expect(await errorOf(response)).toEqual({ status: 415, error: "invalid_request" });
  });

  it("bar#HT-1 is refused where it is too long", async () => {
    const { register } = await setUp({ config: { limits: { parPerMinute: 0, bodyBytes: 1024 } } });
    expect((await register({ vendor: "acme", x: "x".repeat(1024) })).status).toBe(413);
  });
});

describe("how often", () => {
  it("bar#DC-6 is limited per client, apart from pushed requests, and says when to come back", async () => {
    const { register, push } = await setUp({ config: { limits: { parPerMinute: 2, bodyBytes: 65_536 } } });
    expect([(await register()).status, (await register()).status]).toEqual([201, 201]);
    const third = await register();
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await errorOf(third)).toEqual({ status: 429, error: "slow_down" });
    expect((await register(undefined, { authorization: basic("other") })).status).toBe(201);
    expect((await push()).response.status).toBe(201);
  });

  it("bar#DC-6 is limited to sixty a minute where more pushed requests are allowed, and not at all where they are not limited", async () => {
    const limited = await setUp();
    const statuses: number[] = [];
    for (let at = 0; at < 61; at += 1) statuses.push((await limited.register()).status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
    const open = await setUp({ config: { limits: { parPerMinute: 0, bodyBytes: 65_536 } } });
    for (let at = 0; at < 61; at += 1) expect((await open.register()).status).toBe(201);
  });
});
