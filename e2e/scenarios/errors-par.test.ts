/**
 * POST /v1/par and /v1/explain: the error table of docs/api.md, for each way in which a request can
 * be wrong.
 */
import { expectError, REFLECTED } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OTHER_REDIRECT_URI, REDIRECT_URI } from "../support/configuration.ts";
import { type Answer, basic, encode, type Form, send } from "../support/platform.ts";
import { type Harness, startHarness } from "../support/harness.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness((issuer) => ({
    client: "    vendors: [op, closed, waiting, bare, down, liar]",
    vendors: `
  closed: { name: Closed, issuer: ${issuer}, accepts_new_authorizations: false, credentials: { client_id: b, client_secret: s3cret-of-closed } }
  waiting: { name: Waiting, issuer: ${issuer}, setup: vendor_approval, credentials: { client_id: b, client_secret: s3cret-of-waiting } }
  hidden: { name: Hidden, issuer: ${issuer}, enabled: false, credentials: { client_id: b, client_secret: s3cret-of-hidden } }
  foreign: { name: Foreign, issuer: ${issuer}, credentials: { client_id: b, client_secret: s3cret-of-foreign } }
  bare: { name: Bare, issuer: ${issuer} }
  down: { name: Down, issuer: "http://127.0.0.1:9", credentials: { client_id: b, client_secret: s3cret-of-down } }
  liar: { name: Liar, issuer: "${issuer}/elsewhere", credentials: { client_id: b, client_secret: s3cret-of-liar } }
`,
    more: "limits: { body_bytes: 4096 }",
  }));
});

afterAll(() => harness.close());

/** Like `par`, but the form may contain anything, spelled as given. */
async function raw(
  path: string,
  body: NonNullable<RequestInit["body"]>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return send(`${harness.baseUrl}${path}`, {
    method: "POST",
    headers: {
      authorization: basic("platform", harness.secrets.platform),
      "content-type": "application/x-www-form-urlencoded",
      ...headers,
    },
    body,
  });
}

const GOOD: Form = {
  client_id: "platform",
  response_type: "code",
  vendor: "op",
  redirect_uri: REDIRECT_URI,
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
  state: "s",
};

const BOTH = ["/v1/par", "/v1/explain"];

describe.each(BOTH)("%s", (path) => {
  const ask = (form: Form): Promise<Answer> => harness.platform.post(path, { ...GOOD, ...form });

  it("takes a good request, unknown parameters and empty ones", async () => {
    const answer = await ask({ nonsense: REFLECTED, vendor_client_id: "", issuer: "", scope: "", login_hint: "" });
    expect(answer.status, answer.text).toBe(path === "/v1/par" ? 201 : 200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.text).not.toContain("r3flect");
  });

  it.each<[string, Form, string]>([
    ["refuses an unknown vendor", { vendor: REFLECTED }, "invalid_request"],
    ["refuses a vendor that is not enabled", { vendor: "hidden" }, "invalid_request"],
    ["refuses no vendor", { vendor: undefined }, "invalid_request"],
    ["refuses a vendor this client may not use", { vendor: "foreign" }, "unauthorized_client"],
    ["refuses a vendor that takes no new authorizations", { vendor: "closed" }, "unauthorized_client"],
    ["refuses a vendor that waits for approval", { vendor: "waiting" }, "unauthorized_client"],
    ["refuses a vendor without credentials of ours", { vendor: "bare" }, "unauthorized_client"],
    ["refuses a client id of 2,049 characters", { vendor_client_id: "r3flect".repeat(300) }, "invalid_request"],
    ["refuses a secret without its id", { vendor_client_secret: REFLECTED }, "invalid_request"],
    [
      "refuses an authorization endpoint",
      { authorization_endpoint: "https://r3flect.example/a" },
      "unauthorized_client",
    ],
    ["refuses a token endpoint", { token_endpoint: "https://r3flect.example/t" }, "unauthorized_client"],
    ["refuses an issuer", { vendor: undefined, issuer: "https://r3flect.example" }, "unauthorized_client"],
    [
      "refuses both endpoints",
      {
        vendor: undefined,
        authorization_endpoint: "https://r3flect.example/a",
        token_endpoint: "https://r3flect.example/t",
      },
      "unauthorized_client",
    ],
    ["refuses placeholders of no endpoint", { placeholders: '{"tenant":"r3flect"}' }, "invalid_request"],
    ["refuses placeholders that are no JSON", { placeholders: "r3flect" }, "invalid_request"],
    ["refuses placeholders that are no texts", { placeholders: '{"tenant":{"r3flect":1}}' }, "invalid_request"],
    ["refuses a redirect URI of another client", { redirect_uri: OTHER_REDIRECT_URI }, "invalid_redirect_uri"],
    ["refuses a redirect URI with more behind it", { redirect_uri: `${REDIRECT_URI}/r3flect` }, "invalid_redirect_uri"],
    ["bar#ST-3 refuses plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["bar#ST-3 refuses a challenge without method", { code_challenge_method: undefined }, "invalid_request"],
    ["bar#ST-3 refuses a challenge of 42 characters", { code_challenge: "a".repeat(42) }, "invalid_request"],
    ["bar#ST-3 refuses a challenge of 44 characters", { code_challenge: "a".repeat(44) }, "invalid_request"],
    ["bar#ST-3 refuses a challenge in another alphabet", { code_challenge: `${"a".repeat(42)}+` }, "invalid_request"],
    ["bar#ST-5 refuses a scope with a quote", { scope: 'read "r3flect"' }, "invalid_scope"],
    ["bar#ST-5 refuses a scope with a backslash", { scope: "read\\r3flect" }, "invalid_scope"],
    ["refuses a resource with a fragment", { resource: "https://r3flect.example/#x" }, "invalid_request"],
    ["refuses a resource that is no URI", { resource: "r3flect" }, "invalid_request"],
    ["refuses vendor_params that are no JSON", { vendor_params: "r3flect" }, "invalid_request"],
    ["refuses vendor_params that are a list", { vendor_params: '["r3flect"]' }, "invalid_request"],
    ["refuses vendor_params with a number", { vendor_params: '{"r3flect":1}' }, "invalid_request"],
    ["refuses vendor_params with a name twice", { vendor_params: '{"r3flect":"1","r3flect":"2"}' }, "invalid_request"],
    [
      "bar#ST-4 refuses vendor_params with redirect_uri",
      { vendor_params: '{"redirect_uri":"r3flect"}' },
      "invalid_request",
    ],
    ["bar#ST-4 refuses vendor_params with state", { vendor_params: '{"state":"r3flect"}' }, "invalid_request"],
    [
      "bar#ST-4 refuses vendor_params with CODE_CHALLENGE",
      { vendor_params: '{"CODE_CHALLENGE":"r3flect"}' },
      "invalid_request",
    ],
    [
      "bar#ST-4 refuses vendor_params with request[uri]",
      { vendor_params: '{"request_uri[x]":"r3flect"}' },
      "invalid_request",
    ],
    ["bar#ST-4 refuses vendor_params with scope", { vendor_params: '{"scope":"r3flect"}' }, "invalid_request"],
  ])("%s", async (_, form, error) => {
    expectError(await ask(form), 400, error);
  });

  it("answers the same for a vendor that is unknown and one that is not enabled", async () => {
    expect((await ask({ vendor: "hidden" })).text).toBe((await ask({ vendor: "unknown" })).text);
  });

  it("says how to get an approval", async () => {
    expect((await ask({ vendor: "waiting" })).text).toContain("approved_vendors");
  });

  it.each([
    ["a repeated parameter", "vendor=op&vendor=op", 400],
    ["a repeated unknown parameter", "x=1&x=2", 400],
    ["a repeated parameter with empty values", "x=&x=", 400],
    ["broken percent-encoding", "state=%E0%A4%A", 400],
    ["percent-encoding that is no UTF-8", "state=%ff", 400],
    ["a NUL", "state=%00", 400],
    ["a line break", "state=a%0d%0aSet-Cookie:x=r3flect", 400],
    ["more parameters than anyone needs", Array.from({ length: 70 }, (_, i) => `p${i}=1`).join("&"), 400],
    ["a body over the limit", `state=${"r3flect".repeat(600)}`, 413],
  ])("bar#HT-3 bar#HT-4 refuses %s", async (_, extra, status) => {
    const { vendor: _vendor, state: _state, ...rest } = GOOD;
    expectError(await raw(path, `${encode(rest).toString()}&${extra}`), status, "invalid_request");
  });

  it.each([
    ["JSON", { "content-type": "application/json" }],
    ["multipart", { "content-type": "multipart/form-data; boundary=r3flect" }],
    ["text", { "content-type": "text/plain" }],
    ["a form in Latin-1", { "content-type": "application/x-www-form-urlencoded; charset=iso-8859-1" }],
  ])("bar#HT-2 refuses %s as 415", async (_, headers) => {
    expectError(await raw(path, encode(GOOD).toString(), headers), 415, "invalid_request");
  });

  it("bar#HT-2 takes a form that says UTF-8", async () => {
    const headers = { "content-type": 'Application/X-WWW-Form-Urlencoded; charset="UTF-8"' };
    expect((await raw(path, encode(GOOD).toString(), headers)).status).toBeLessThan(300);
  });

  it("refuses a body that is not UTF-8", async () => {
    expectError(await raw(path, new Uint8Array([0x61, 0x3d, 0xff, 0xfe])), 400, "invalid_request");
  });

  it("answers 405 to another method", async () => {
    const answer = await send(`${harness.baseUrl}${path}`);
    expectError(answer, 405, "method_not_allowed");
    expect(answer.headers.get("allow")).toBe("POST");
  });

  it("answers 503 with Retry-After while the vendor cannot be discovered, and 502 when it lies", async () => {
    expectError(await ask({ vendor: "down" }), 503, "temporarily_unavailable");
    expectError(await ask({ vendor: "liar" }), 502, "vendor_response_invalid");
  });
});

describe("/v1/par alone", () => {
  it.each<[string, Form, string]>([
    ["refuses no client_id", { client_id: undefined }, "invalid_request"],
    ["refuses another client_id", { client_id: "other" }, "invalid_request"],
    ["refuses no response_type", { response_type: undefined }, "invalid_request"],
    ["refuses response_type=token", { response_type: "token" }, "invalid_request"],
    ["refuses no redirect_uri", { redirect_uri: undefined }, "invalid_request"],
    [
      "bar#ST-3 refuses no challenge",
      { code_challenge: undefined, code_challenge_method: undefined },
      "invalid_request",
    ],
    ["rfc9126#2.1 refuses a request_uri", { request_uri: "urn:r3flect" }, "invalid_request"],
    ["refuses a request object", { request: "eyJhbGciOiJub25lIn0.e30." }, "invalid_request"],
    ["refuses response_mode=fragment", { response_mode: "fragment" }, "invalid_request"],
  ])("%s", async (_, form, error) => {
    expectError(await harness.platform.post("/v1/par", { ...GOOD, ...form }), 400, error);
  });

  it("stores and sends nothing for a request it refuses", async () => {
    const before = harness.vendor.requests().length;
    expectError(await harness.platform.par({ redirect_uri: OTHER_REDIRECT_URI }), 400, "invalid_redirect_uri");
    expect(harness.vendor.requests()).toHaveLength(before);
  });
});

describe("/v1/explain alone", () => {
  it("shows what would happen, with every secret redacted", async () => {
    const answer = await harness.platform.post("/v1/explain", {
      vendor: "op",
      scope: "openid api:write",
      login_hint: "user@acme.example",
      vendor_params: '{"access_type":"offline"}',
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      vendor: "op",
      tier: 1,
      redirect_uri: `${harness.baseUrl}/v1/callback`,
      endpoints: {
        authorization_endpoint: `${harness.vendor.issuer}/auth`,
        token_endpoint: `${harness.vendor.issuer}/token`,
      },
      credentials: { source: "shared", vendor_client_id: "broker", client_secret: "[secret]" },
      authorization_parameters: {
        scope: { value: "openid api:write", source: "request" },
        access_type: { value: "offline", source: "request" },
        client_id: { value: "broker", source: "configuration" },
        code_challenge_method: { value: "S256", source: "broker" },
      },
    });
    expect(answer.text).not.toContain(harness.secrets.vendor);
  });
});

describe("the rate limit", () => {
  it("bar#ST-8 answers 429 slow_down with Retry-After, to that client alone", async () => {
    const limited = await startHarness({ more: "limits: { par_per_minute: 3 }" });
    for (let count = 0; count < 3; count += 1) expect((await limited.platform.par()).status).toBe(201);
    expectError(await limited.platform.par(), 429, "slow_down");
    expect((await limited.other.par()).status).toBe(201);
    await limited.close();
  });
});
