/** Whether a connection is still good: what the vendor is asked, where the token goes, and the answer. */
import { REFLECTED } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { openConnection, sealConnection } from "../grants/connection.ts";
import { lose, NOW, testBroker, type TestBroker, type testVendor } from "../testing/test-broker.ts";

const TOKEN = "canary-access-token";
const INTROSPECTION = "https://check.acme.example/introspect";
const USERINFO = "https://api.acme.example/me";
const WAYS = { introspectionEndpoint: INTROSPECTION, userinfoEndpoint: USERINFO };
const LIVE = { active: true, client_id: "ours", sub: "u-1", scope: "read", exp: NOW + 60 };
const REFUSED = { error: "invalid_client" };
const LATER = { "retry-after": "9" };
const OWN = { vendor_client_id: "mine", vendor_client_secret: "canary-s3cret" };

interface Scene {
  readonly ways?: Parameters<typeof testVendor>[0];
  readonly options?: Parameters<typeof testBroker>[0];
  /** What a check is answered, at every host. */
  readonly says?: () => Response;
  readonly form?: Record<string, string>;
}

async function connected({ ways = WAYS, options = {}, says, form = {} }: Scene = {}) {
  const broker = await testBroker({
    vendor: ways,
    ...options,
    vendorAnswers: async (input) => {
      const isToken = new URL(String(input)).pathname === "/token";
      return isToken ? Response.json({ access_token: TOKEN, token_type: "bearer" }) : (says?.() ?? Response.json(LIVE));
    },
  });
  const { connection } = await broker.connect(form);
  const before = broker.seen.length;
  const check = (more: Record<string, string> | string = {}, clientId?: string) =>
    broker.post("/v1/check", typeof more === "string" ? more : { access_token: TOKEN, connection, ...more }, clientId);
  return { ...broker, connection, check, asked: () => broker.seen.slice(before) };
}

/** The same vendor in another configuration, for which the connection of the first broker opens. */
async function reopened(broker: TestBroker & { connection: string }, ways: Scene["ways"]) {
  const later = await connected(ways === undefined ? {} : { ways });
  const connection = await openConnection(broker.connection, "platform", broker.deps);
  return { ...later, sealed: sealConnection(connection, "platform", later.deps) };
}

describe("POST /v1/check", () => {
  it("answers what the vendor said, and asks it once, as the client of the connection", async () => {
    const { check, asked, lines } = await connected();
    const { response, body } = await check({ scope: "read write", unknown: "x" });
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const account = { issuer: null, subject: "u-1" };
    const said = { active: true, scope: "read", missing_scope: "write", expires_in: 60, account };
    expect(body).toEqual({ ...said, checked_by: "introspection" });
    expect(asked().map(({ url, form }) => [url, form.get("token")])).toEqual([[INTROSPECTION, TOKEN]]);
    expect(lines.filter((line) => line.includes('"route":"/v1/check"'))).toHaveLength(1);
    await check();
    expect(asked()).toHaveLength(2);
  });

  it.each<[string, Scene["ways"], object, string]>([
    ["userinfo", { userinfoEndpoint: USERINFO }, { sub: "u-1" }, "u-1"],
    ["account", { account: { endpoint: USERINFO, method: "GET", identity: ["id"] } }, { id: 7 }, "7"],
  ])("asks by %s where that is the vendor's way", async (checkedBy, ways = {}, answer, subject) => {
    const { check, asked } = await connected({ ways, says: () => Response.json(answer) });
    const found = { active: true, account: { issuer: null, subject }, checked_by: checkedBy };
    expect((await check({ scope: "read" })).body).toEqual(found);
    expect(asked().map(({ url, authorization }) => [url, authorization])).toEqual([[USERINFO, `Bearer ${TOKEN}`]]);
  });

  it("answers null where the vendor has no way, and false where it no longer accepts the token", async () => {
    const none = await connected({ ways: {} });
    expect((await none.check({ scope: "read" })).body).toEqual({ active: null, checked_by: "none" });
    expect(none.asked()).toEqual([]);
    const dead = await connected({ says: () => Response.json({ active: false }) });
    expect((await dead.check()).body).toEqual({ active: false, checked_by: "introspection" });
  });

  it.each<[string, Response | (() => never), number, string]>([
    ["is down", new Response("x", { status: 500 }), 503, "temporarily_unavailable"],
    ["has a limit", new Response("x", { status: 429, headers: LATER }), 503, "temporarily_unavailable"],
    ["is cut off", () => lose(), 503, "temporarily_unavailable"],
    ["cannot be reached", () => lose(false), 503, "temporarily_unavailable"],
    ["redirects", Response.redirect("https://x.example/"), 502, "vendor_response_invalid"],
    ["is no JSON", new Response(TOKEN), 502, "vendor_response_invalid"],
    ["refuses our client", Response.json(REFUSED, { status: 401 }), 400, "vendor_credentials_rejected"],
    ["names another client", Response.json({ ...LIVE, client_id: "theirs" }), 400, "invalid_request"],
  ])("is an error, not active: false, where the vendor %s", async (why, says, status, error) => {
    const { check, lines } = await connected({ says: () => (says instanceof Response ? says : says()) });
    const { response, body } = await check();
    expect([response.status, body["error"]]).toEqual([status, error]);
    if (status === 503) expect(response.headers.get("retry-after")).toBe(why === "has a limit" ? "9" : "5");
    expect(JSON.stringify([body, lines])).not.toContain(TOKEN);
  });

  it.each<[string, Record<string, string> | string, string]>([
    ["no token", { access_token: "" }, "invalid_request"],
    ["a token that no header can carry", { access_token: "a b" }, "invalid_request"],
    ["no connection", { connection: "" }, "invalid_request"],
    ["the vendor in place of it", { connection: "", vendor: "acme" }, "invalid_request"],
    ["an invalid connection", { connection: REFLECTED }, "invalid_request"],
    ["a vendor that contradicts it", { vendor: "another" }, "invalid_request"],
    ["credentials that contradict it", OWN, "invalid_request"],
    ["an endpoint", { token_endpoint: "https://r3flect.example" }, "unauthorized_client"],
    ["a token twice", "access_token=a&access_token=b&connection=c", "invalid_request"],
    ["scopes that are none", { scope: 'a"b' }, "invalid_scope"],
  ])("refuses %s, and asks no vendor", async (_, form, error) => {
    const { check, asked } = await connected();
    const { response, body } = await check(form);
    expect([response.status, body["error"]]).toEqual([400, error]);
    expect(asked()).toEqual([]);
  });

  it("bar#RF-7 refuses another client's connection, and asks no vendor", async () => {
    const { check, asked } = await connected();
    expect((await check({}, "other")).body["error"]).toBe("invalid_request");
    expect(asked()).toEqual([]);
  });

  it("bar#ST-8 counts as a call to a vendor", async () => {
    const { check, asked } = await connected({ options: { limits: { vendorCallsPerMinute: 2 } } });
    expect((await check()).response.status).toBe(200);
    const { response, body } = await check();
    expect([response.status, body["error"]]).toEqual([429, "slow_down"]);
    expect(asked()).toHaveLength(1);
  });

  it("uses the client's own credentials, which come with the call", async () => {
    const { check, asked } = await connected({ form: OWN, says: () => Response.json({ ...LIVE, client_id: "mine" }) });
    expect((await check()).body["error"]).toBe("invalid_request");
    expect(asked()).toEqual([]);
    expect((await check(OWN)).body).toMatchObject({ active: true, checked_by: "introspection" });
    expect(asked()[0]?.authorization).toBe(`Basic ${Buffer.from("mine:canary-s3cret").toString("base64")}`);
  });
});

it("bar#OB-1 is counted by what came of it", async () => {
  let answer = Response.json(LIVE);
  const { check, get } = await connected({ says: () => answer });
  await check();
  answer = Response.json({ active: false });
  await check();
  answer = new Response("x", { status: 500 });
  await check();
  const { html } = await get("/metrics");
  for (const outcome of ["ok", "inactive", "temporarily_unavailable"]) {
    expect(html).toContain(`broker_vendor_calls_total{vendor="acme",operation="check",outcome="${outcome}"} 1`);
  }
});

describe("bar#BY-4 a checked token goes to no host but those of its connection", () => {
  it("where the vendor's endpoints have moved since", async () => {
    const broker = await connected();
    const moved = {
      introspectionEndpoint: "https://check.evil.example/introspect",
      userinfoEndpoint: "https://api.evil.example/me",
    };
    const later = await reopened(broker, moved);
    expect((await later.check({ connection: later.sealed })).body).toEqual({ active: null, checked_by: "none" });
    expect(later.asked()).toEqual([]);
    const half = await reopened(broker, { ...moved, userinfoEndpoint: USERINFO });
    await half.check({ connection: half.sealed });
    expect(half.asked().map(({ url }) => url)).toEqual([USERINFO]);
  });

  it("where the tokens are of a host that the request named", async () => {
    const form = { token_endpoint: "https://eu.elsewhere.example/token", ...OWN };
    const { check, asked } = await connected({ form });
    expect((await check(OWN)).body).toEqual({ active: null, checked_by: "none" });
    expect(asked()).toEqual([]);
  });

  it("where the connection is of an earlier release, until a refresh pins the hosts of today", async () => {
    const broker = await connected();
    const { checkHosts: _none, ...earlier } = await openConnection(broker.connection, "platform", broker.deps);
    const connection = sealConnection(earlier, "platform", broker.deps);
    expect((await broker.check({ connection })).body).toEqual({ active: null, checked_by: "none" });
    const { body } = await broker.refresh({ connection });
    expect(await openConnection(String(body["connection"]), "platform", broker.deps)).toMatchObject({
      hosts: ["acme.example"],
      checkHosts: ["api.acme.example", "check.acme.example"],
    });
    expect((await broker.check({ connection: String(body["connection"]) })).body).toMatchObject({ active: true });
  });
});

it("bar#UI-1 a token of another account than the connection's is refused", async () => {
  const broker = await connected({ says: () => Response.json({ ...LIVE, sub: "u-2" }) });
  const known = await openConnection(broker.connection, "platform", broker.deps);
  const connection = sealConnection({ ...known, sub: "u-1" }, "platform", broker.deps);
  const mismatch = { error: "invalid_request", reason: "account_mismatch" };
  expect((await broker.check({ connection })).body).toMatchObject(mismatch);
});
