import { fixedClock, ofEachTest } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import {
  callbackOf,
  createFakeBroker,
  networkFailure,
  PLATFORM,
  REDIRECT_URI,
  refusal,
  TOKEN_ANSWER,
} from "../testing/fake-broker.ts";
import type { Session } from "../session.ts";
import { createBrokerClient } from "./client.ts";

const now = fixedClock(1_700_000_000);

const broker = ofEachTest(createFakeBroker);
const client = ofEachTest(() => createBrokerClient({ ...PLATFORM, now, fetch: broker.fetch }));

const last = (path: string) => broker.asked.findLast((asked) => asked.path === path);

describe("start", () => {
  it("rfc9126#2.1 pushes the whole request with Basic credentials", async () => {
    const same = { vendor: "github", scope: "repo read:user", prompt: "consent", resource: "https://api.example/" };
    const { session } = await client.start({
      ...same,
      loginHint: "someone",
      byoc: { clientId: "own-client", clientSecret: "own-secret" },
      placeholders: { tenant: "one" },
      vendorParams: { team: "T1" },
    });
    const { body, headers } = last("/v1/par")!;
    expect(Object.fromEntries(body)).toEqual({
      client_id: "platform",
      response_type: "code",
      redirect_uri: REDIRECT_URI,
      state: session.state,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      ...same,
      login_hint: "someone",
      vendor_client_id: "own-client",
      vendor_client_secret: "own-secret",
      placeholders: '{"tenant":"one"}',
      vendor_params: '{"team":"T1"}',
    });
    expect(headers.get("authorization")).toMatch(/^Basic /);
    expect(JSON.stringify(session)).not.toContain("own-secret");
  });

  it("rfc9126#4 sends the browser with the handle alone", async () => {
    const { url } = await client.start({ vendor: "github", scope: "repo" });
    const { searchParams, pathname } = new URL(url);
    expect(pathname).toBe("/v1/authorize");
    const handle = { client_id: "platform", request_uri: "urn:ietf:params:oauth:request_uri:one" };
    expect(Object.fromEntries(searchParams)).toEqual(handle);
  });

  it("sends endpoints and issuer of manual mode", async () => {
    const [authorizationEndpoint, tokenEndpoint] = ["https://v.example/authorize", "https://v.example/token"];
    await client.start({ endpoints: { authorizationEndpoint, tokenEndpoint }, byoc: { clientId: "own" } });
    const sent = { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint };
    expect(Object.fromEntries(last("/v1/par")!.body)).toMatchObject({ ...sent, vendor_client_id: "own" });
    await client.start({ issuer: "https://idp.example", byoc: { clientId: "own" } });
    expect(last("/v1/par")!.body.get("issuer")).toBe("https://idp.example");
  });

  it("passes the broker's refusal on, with everything that helps", async () => {
    const members = { error: "unauthorized_client", reason: "not_listed", flow_id: "flow" };
    broker.answers.set("/v1/par", refusal(400, members));
    await expect(client.start({ vendor: "github" })).rejects.toMatchObject({
      name: "BrokerClientError",
      code: "unauthorized_client",
      description: "In a sentence",
      details: { reason: "not_listed", flowId: "flow" },
    });
    broker.answers.set("/v1/par", refusal(401, { error: "invalid_client" }, { "www-authenticate": 'Basic realm="x"' }));
    await expect(client.start({ vendor: "github" })).rejects.toMatchObject({ code: "invalid_client" });
    broker.answers.set("/v1/par", refusal(429, { error: "slow_down" }, { "retry-after": "30" }));
    const slower = { code: "slow_down", details: { retryAfterSeconds: 30 } };
    await expect(client.start({ vendor: "github" })).rejects.toMatchObject(slower);
  });

  it("distinguishes a proxy's page from the broker's answer", async () => {
    broker.answers.set("/v1/par", () => new Response("<h1>Bad Gateway</h1>", { status: 502 }));
    const unavailable = { code: "temporarily_unavailable", details: { reason: "status_502" } };
    await expect(client.start({ vendor: "github" })).rejects.toMatchObject(unavailable);
    broker.answers.set("/v1/par", () => new Response("<h1>Hello</h1>", { status: 201 }));
    await expect(client.start({ vendor: "github" })).rejects.toMatchObject({ code: "invalid_response" });
  });
});

describe("finish", () => {
  let session: Session;
  beforeEach(async () => {
    ({ session } = await client.start({ vendor: "github" }));
  });
  const used = { code: "invalid_session", details: { reason: "used" } };
  const finish = (members?: Readonly<Record<string, string>>) =>
    client.finish(callbackOf(session.state, members), session);

  it("reads every member of the answer", async () => {
    expect(await finish()).toEqual({
      accessToken: "vendor-access-token",
      tokenType: "Bearer",
      expiresAt: now() + 3600,
      refreshToken: "vendor-refresh-token",
      refreshTokenExpiresAt: now() + 7200,
      scope: "api:read",
      vendor: "github",
      connection: "sealed-connection",
      vendorData: { instance_url: "https://one.example" },
    });
    expect(Object.fromEntries(last("/v1/token")!.body)).toMatchObject({
      grant_type: "authorization_code",
      code: "one-time-code",
      redirect_uri: REDIRECT_URI,
      code_verifier: session.codeVerifier,
    });
  });

  it("passes on a vendor's own token type, and an unknown lifetime as unknown", async () => {
    const { expires_in: _expiresIn, ...answer } = TOKEN_ANSWER;
    broker.answers.set("/v1/token", () => Response.json({ ...answer, token_type: "Shop" }));
    const tokens = await finish();
    expect(tokens.tokenType).toBe("Shop");
    expect(tokens).not.toHaveProperty("expiresAt");
  });

  it("may be repeated after an outage that spent nothing, and not after one that did", async () => {
    broker.answers.set("/v1/token", refusal(503, { error: "temporarily_unavailable" }, { "retry-after": "3" }));
    await expect(finish()).rejects.toMatchObject({ details: { retryAfterSeconds: 3 } });
    broker.answers.set("/v1/token", networkFailure);
    await expect(finish()).rejects.toMatchObject({ details: { reason: "broker_unreachable" } });
    broker.answers.set("/v1/token", refusal(503, { error: "temporarily_unavailable", retry: "restart" }));
    await expect(finish()).rejects.toMatchObject({ details: { retry: "restart" } });
    await expect(finish()).rejects.toMatchObject(used);
  });

  const closed = new TypeError("fetch failed", { cause: { code: "UND_ERR_SOCKET" } });
  it.each<[string, () => Response | Promise<Response>]>([
    ["no answer", async () => Promise.reject(closed)],
    ["a proxy's 502", () => new Response("<html>", { status: 502 })],
    ["half an answer", () => new Response(new ReadableStream({ start: (body) => body.error(new Error("cut")) }))],
  ])("says that only a new flow helps when the code was sent and %s came back", async (_, lost) => {
    broker.answers.set("/v1/token", lost);
    const error: unknown = await finish().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "temporarily_unavailable", details: { retry: "restart" } });
    expect(error).not.toMatchObject({ details: { retryAfterSeconds: expect.anything() } });
    await expect(finish()).rejects.toMatchObject(used);
  });

  it.each<[string, Record<string, string>]>([
    ["neither code nor error", {}],
    ["an empty code", { code: "" }],
    ["both", { code: "one-time-code", error: "access_denied" }],
  ])("bar#CB-11 refuses a callback with %s, and spends nothing", async (_, members) => {
    await expect(finish(members)).rejects.toMatchObject({ code: "invalid_callback", details: { reason: "malformed" } });
    expect(last("/v1/token")).toBeUndefined();
    await expect(finish()).resolves.toMatchObject({ vendor: "github" });
  });

  it("refuses a session without its verifier, and spends nothing", async () => {
    const { codeVerifier: _, ...bare } = session;
    const malformed = { code: "invalid_session", details: { reason: "malformed" } };
    await expect(client.finish(callbackOf(session.state), bare)).rejects.toMatchObject(malformed);
    await expect(finish()).resolves.toMatchObject({ vendor: "github" });
  });

  it("passes on what a callback's error says, and nothing that could break a log line", async () => {
    const error = "vendor_credentials_rejected";
    const members = { error, credentials_source: "byoc", vendor_error: "invalid_client" };
    await expect(finish(members)).rejects.toMatchObject({
      code: error,
      details: { flowId: "flow", credentialsSource: "byoc", vendorError: "invalid_client" },
    });
    const strange = { error: "access_denied", error_description: "one\r\ntwo", reason: "\u0000" };
    await expect(finish(strange)).rejects.toMatchObject({
      code: "access_denied",
      description: "The broker gives no description",
      details: { flowId: "flow" },
    });
  });

  it.each<[string, unknown]>([
    ["no access token", { ...TOKEN_ANSWER, access_token: undefined }],
    ["no connection", { ...TOKEN_ANSWER, connection: undefined }],
    ["no vendor", { ...TOKEN_ANSWER, vendor: undefined }],
    ["vendor data that is not an object", { ...TOKEN_ANSWER, vendor_data: [] }],
    ["a list", [TOKEN_ANSWER]],
  ])("refuses an answer with %s, and shows none of it", async (_what, answer) => {
    broker.answers.set("/v1/token", () => Response.json(answer));
    const error: unknown = await finish().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "invalid_response", details: { reason: "malformed" } });
    expect(JSON.stringify(error) + String(error) + String((error as Error).cause)).not.toContain("vendor-access-token");
  });
});
