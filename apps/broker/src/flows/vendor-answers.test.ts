/** What vendors answer, as it reaches a client of the broker: numbers, odd scopes, dead grants, waits. */
import { describe, expect, it } from "vitest";
import {
  issueTokens,
  testBroker,
  type TestBroker,
  type TestBrokerOptions,
  testVendor,
} from "../testing/test-broker.ts";

const REVOCABLE = { revocationEndpoint: "https://acme.example/revoke" };

/** @param members as JSON */
const issued = (members: string): string => `{"access_token":"at","token_type":"bearer",${members}}`;

/** @param body of the token endpoint, as text */
function answering(body: string, init: ResponseInit = {}): NonNullable<TestBrokerOptions["vendorAnswers"]> {
  const headers = { "content-type": "application/json", ...(init.headers as Record<string, string>) };
  return async (input) =>
    String(input).endsWith("/revoke") ? new Response(null) : new Response(body, { ...init, headers });
}

const refresh = (broker: TestBroker, form: Record<string, string> = {}) => broker.refresh({ vendor: "acme", ...form });

describe("a number in vendor_data has the vendor's digits", () => {
  const NUMBERS = '"user_id":17841405822304915,"deep":{"ids":[9007199254740993,1e400,1.0,-0,0.30000000000000004441]}';
  const BODY = issued(NUMBERS);

  it.each(["token", "callback"] as const)("of a code that is redeemed at: %s", async (redeemAt) => {
    const broker = await testBroker({ vendor: { redeemAt }, vendorAnswers: answering(BODY) });
    const code = await broker.park();
    expect((await broker.redeem(code)).text).toContain(`"vendor_data":{${NUMBERS}}`);
  });

  it("of a refresh, and of its replay", async () => {
    const broker = await testBroker({ vendorAnswers: answering(BODY) });
    for (const _ of ["call", "replay"]) expect((await refresh(broker)).text).toContain(`"vendor_data":{${NUMBERS}}`);
    expect(broker.seen).toHaveLength(1);
  });
});

describe("a scope of an odd shape", () => {
  it("is left out, kept in vendor_data, and told to the operator", async () => {
    const broker = await testBroker({ vendorAnswers: answering(issued('"scope":{}')) });
    const { response, body } = await broker.connect();
    expect([response.status, body["scope"], body["vendor_data"]]).toEqual([200, undefined, { scope: {} }]);
    expect(broker.lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ event: "vendor_scope_left_out", level: "warn", vendor: "acme" }),
    );
  });

  it("is read where it is a list of lists in one text", async () => {
    const broker = await testBroker({ vendorAnswers: answering(issued('"scope":["read write"]')) });
    const { body } = await broker.connect();
    expect([body["scope"], body["vendor_data"]]).toEqual(["read write", {}]);
    expect(broker.lines.join("")).not.toContain("vendor_scope_left_out");
  });
});

describe("a refresh answer that is refused", () => {
  it("bar#RF-9 says that a new flow is needed, and the new refresh token is revoked", async () => {
    const broken = '{"access_token":"at","refresh_token":"rt-2","x":1,"x":2}';
    const broker = await testBroker({ vendor: REVOCABLE, vendorAnswers: answering(broken) });
    const { response, body } = await refresh(broker);
    expect([response.status, body]).toEqual([502, expect.objectContaining({ retry: "restart" })]);
    expect(broker.seen.map(({ url, form }) => [url, form.get("token")])).toEqual([
      ["https://acme.example/token", null],
      ["https://acme.example/revoke", "rt-2"],
    ]);
  });

  it("is read although it says that it is a page", async () => {
    const page = { headers: { "content-type": "text/html" } };
    const broker = await testBroker({ vendorAnswers: answering('{"access_token":"at","token_type":"x"}', page) });
    expect((await refresh(broker)).response.status).toBe(200);
  });
});

it.each([
  ["invalid_token", 401],
  ["INVALID_GRANT", 400],
  ["login_required", 400],
  ["invalid_grant", 500],
])("bar#RF-9 a dead grant is invalid_grant when the vendor says %s with %i", async (error, status) => {
  const broker = await testBroker({ vendorAnswers: answering(JSON.stringify({ error }), { status }) });
  const { response, body } = await refresh(broker);
  expect([response.status, body["error"], body["vendor_error"]]).toEqual([400, "invalid_grant", error]);
});

describe("Retry-After of a vendor", () => {
  const LATER = { headers: { "retry-after": "7200" } };
  const waits = ({ response, body }: Awaited<ReturnType<typeof refresh>>) => [
    response.status,
    response.headers.get("retry-after"),
    body["reason"],
  ];

  it.each([429, 503, 400])("rfc9110#10.2.3 with %i reaches the client, and whose word it is", async (status) => {
    const vendorAnswers = answering('{"error":"slow_down"}', { status, ...LATER });
    const broker = await testBroker({ vendor: REVOCABLE, vendorAnswers });
    expect(waits(await refresh(broker))).toEqual([503, "7200", "vendor"]);
    broker.now.advance(61);
    expect(waits(await refresh(broker))).toEqual([503, "7200", "vendor"]);
    expect(broker.seen).toHaveLength(2);
  });

  it("is a minute where the caller names the vendor, discovery included", async () => {
    const own = { vendor: "", vendor_client_id: "mine", vendor_client_secret: "their secret" };
    const endpoints = {
      authorization_endpoint: "https://tenant.example/authorize",
      token_endpoint: "https://tenant.example/token",
    };
    const broker = await testBroker({ vendorAnswers: answering("{}", { status: 429, ...LATER }) });
    expect(waits(await refresh(broker, { ...own, ...endpoints }))).toEqual([503, "60", "vendor"]);
    const pushed = await broker.push({ ...own, issuer: "https://tenant.example" });
    expect(waits(pushed)).toEqual([503, "60", "vendor"]);
  });

  it("is ours where the vendor says none", async () => {
    const broker = await testBroker({ vendorAnswers: answering("", { status: 503 }) });
    expect(waits(await refresh(broker))).toEqual([503, "5", undefined]);
  });
});

describe("a token dialect of the operator's own", () => {
  it("finds tokens and errors where the file says, and sends its headers", async () => {
    const answers = [
      '{"ok":true,"data":{"access_token":"at","token_type":"bearer","refresh_token":"rt-2","user_id":9007199254740993}}',
      '{"problem":{"kind":"token_dead"}}',
    ];
    const sent: (string | null)[] = [];
    const vendor = {
      tokenResponseMember: "data",
      errorMember: "problem.kind",
      tokenErrors: { token_dead: "invalid_grant" },
      tokenHeaders: { "x-api-key": "operators-key" },
    } as const;
    const vendorAnswers: TestBrokerOptions["vendorAnswers"] = async (_url, init) => {
      sent.push(new Headers(init?.headers).get("x-api-key"));
      const body = answers.shift() ?? "";
      return new Response(body, { status: body.includes("problem") ? 422 : 200 });
    };
    const broker = await testBroker({ vendor, vendorAnswers });
    expect((await broker.connect()).body).toMatchObject({ access_token: "at", refresh_token: "rt-2" });
    expect((await refresh(broker)).body).toMatchObject({ error: "invalid_grant", vendor_error: "token_dead" });
    expect(sent).toEqual(["operators-key", "operators-key"]);
  });

  /** A vendor that gets an operator's header, and the hosts that did. */
  function hearing() {
    const sent: [string, string | null][] = [];
    const vendorAnswers: TestBrokerOptions["vendorAnswers"] = async (url, init) => {
      sent.push([new URL(url).host, new Headers(init?.headers).get("x-api-key")]);
      return issueTokens(url);
    };
    const own = { vendor_client_id: "mine", vendor_client_secret: "their secret" };
    return { sent, vendorAnswers, own, headers: { tokenHeaders: { "x-api-key": "operators-key" } } };
  }

  it("bar#BY-4 sends no header of the operator's to an endpoint of the caller's", async () => {
    const { sent, vendorAnswers, own, headers } = hearing();
    const broker = await testBroker({ vendor: headers, vendorAnswers });
    await refresh(broker, own);
    await refresh(broker, { ...own, token_endpoint: "https://r3flect.example/token" });
    expect(sent).toEqual([
      ["acme.example", "operators-key"],
      ["r3flect.example", null],
    ]);
  });

  it("bar#BY-4 sends no header of the operator's to a tenant that the file does not list", async () => {
    const { sent, vendorAnswers, own, headers } = hearing();
    const vendor = {
      authorizationEndpoint: "https://{tenant}.acme.example/authorize",
      tokenEndpoint: "https://{tenant}.acme.example/token",
      ...headers,
    };
    const acme = { ...testVendor(vendor), placeholders: { tenant: {} }, tenants: { tenant: ["good"] } };
    const broker = await testBroker({ config: { vendors: new Map([["acme", acme]]) }, vendorAnswers });
    for (const tenant of ["good", "evil"]) await refresh(broker, { ...own, placeholders: JSON.stringify({ tenant }) });
    expect(sent).toEqual([
      ["good.acme.example", "operators-key"],
      ["evil.acme.example", null],
    ]);
  });
});
