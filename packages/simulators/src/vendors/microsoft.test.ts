import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCookieJar } from "../cookie-jar.ts";
import { MAIL, MICROSOFT_CLIENT, startMicrosoftHarness, type MicrosoftHarness } from "./testing/microsoft-harness.ts";
import { bearer, getJson, goThrough, postForm, postJson } from "./testing/http.ts";

const DAY = 24 * 3600;

let harness: MicrosoftHarness;
let microsoft: MicrosoftHarness["microsoft"];
let ready: MicrosoftHarness["ready"];
let other: MicrosoftHarness["other"];
beforeEach(async () => {
  harness = await startMicrosoftHarness();
  ({ microsoft, ready, other } = harness);
});
afterEach(() => microsoft.close());

describe("connect", () => {
  it("answers a code, then tokens that the MCP server takes", async () => {
    const callback = await goThrough(harness.authorizeUrl());
    expect(callback).toEqual({ code: expect.any(String), state: "s1", session_state: expect.any(String) });
    const { status, body } = await harness.redeem(callback["code"]);
    expect([status, body]).toEqual([
      200,
      {
        token_type: "Bearer",
        scope: MAIL,
        expires_in: 3599,
        ext_expires_in: 3599,
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        id_token: expect.any(String),
      },
    ]);
    expect((await harness.call(body["access_token"])).status).toBe(200);
    harness.now.advance(3599);
    expect((await harness.call(body["access_token"])).status).toBe(401);
  });

  it.each(["organizations", "common"])(
    "names a template as the issuer of %s, and the tenant's own in tokens",
    async (path) => {
      const metadata = await getJson(`${microsoft.url}/${path}/v2.0/.well-known/openid-configuration`);
      expect(metadata.body).toMatchObject({
        ...microsoft.endpointsOf(path),
        issuer: `${microsoft.url}/{tenantid}/v2.0`,
      });
      const { id_token: idToken } = await harness.at(path).connect();
      const { body: keys } = await getJson(String(metadata.body["jwks_uri"]));
      const { payload } = await jwtVerify(String(idToken), createLocalJWKSet(keys as unknown as JSONWebKeySet), {
        currentDate: new Date(harness.now() * 1000),
        audience: MICROSOFT_CLIENT.client_id,
        issuer: `${microsoft.url}/${ready.id}/v2.0`,
        algorithms: ["RS256"],
      });
      expect(payload).toMatchObject({
        tid: ready.id,
        nonce: "n1",
        ver: "2.0",
        preferred_username: "user@sandbox.example",
      });
      expect(payload["oid"]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
    },
  );

  it("has the tenant's own path, where the issuer is the tenant's and its codes are good", async () => {
    const metadata = await getJson(`${microsoft.url}/${ready.id}/v2.0/.well-known/openid-configuration`);
    expect(metadata.body).toMatchObject({ issuer: `${microsoft.url}/${ready.id}/v2.0` });
    expect(await harness.at(ready.id).connect()).toHaveProperty("refresh_token");
    const { code } = await goThrough(harness.at(ready.id).authorizeUrl());
    expect(await harness.at(other.id).redeem(code)).toMatchObject({ status: 400, body: { error_codes: [700005] } });
    expect((await harness.redeem(code)).status).toBe(200);
    expect((await getJson(`${microsoft.url}/none/v2.0/.well-known/openid-configuration`)).status).toBe(400);
  });

  it("gives a refresh token with offline_access and an ID token with openid only", async () => {
    const tokens = await harness.connect({ scope: MAIL });
    expect(Object.keys(tokens).toSorted()).toEqual([
      "access_token",
      "expires_in",
      "ext_expires_in",
      "scope",
      "token_type",
    ]);
  });

  it("gives all scopes of the resource for .default, and one resource per token", async () => {
    const everything = `${MAIL.split("/")[0]!}/.default`;
    expect(String((await harness.connect({ scope: everything }))["scope"]).split(" ")).toHaveLength(11);
    const graph = "https://graph.microsoft.com/User.Read";
    const both = await harness.connect({ scope: `${MAIL} ${graph} offline_access` });
    expect(both["scope"]).toBe(MAIL);
    const second = await harness.refresh(both["refresh_token"], { scope: graph });
    expect([second.status, second.body["scope"]]).toEqual([200, graph]);
    expect(await harness.refresh(both["refresh_token"], { scope: `${MAIL} ${graph}` })).toMatchObject({
      body: { error: "invalid_scope" },
    });
  });

  it("asks the user where the tenant lets users decide, once", async () => {
    ready.adminConsent = false;
    ready.usersMayConsent = true;
    const cookieJar = createCookieJar();
    const cancelled = await goThrough(harness.authorizeUrl(), { cookieJar, decision: "cancel" });
    expect(cancelled).toMatchObject({
      error: "access_denied",
      error_subcode: "cancel",
      error_description: expect.stringContaining("AADSTS65004"),
      state: "s1",
    });
    await harness.connect({}, { cookieJar });
    // Allowed before: no page any more that could be cancelled.
    expect(await goThrough(harness.authorizeUrl(), { cookieJar, decision: "cancel" })).toHaveProperty("code");
  });
});

describe("refresh", () => {
  it("overlaps: each answer has a new refresh token, and the old one stays good", async () => {
    const first = await harness.connect();
    const answers = await Promise.all([1, 2, 3].map(() => harness.refresh(first["refresh_token"])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body["refresh_token"])).size).toBe(3);
    for (const { body } of answers) expect((await harness.refresh(body["refresh_token"])).status).toBe(200);
  });

  it("slides by 90 days, then ends as 700082", async () => {
    const { refresh_token: refreshToken } = await harness.connect();
    harness.now.advance(90 * DAY - 1);
    const { body } = await harness.refresh(refreshToken);
    harness.now.advance(90 * DAY - 1);
    expect((await harness.refresh(body["refresh_token"])).status).toBe(200);
    expect(await harness.refresh(refreshToken)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant", error_codes: [700082] },
    });
  });

  it("ends as 50173 with all sessions, and as malformed for what is no refresh token of this app", async () => {
    const { refresh_token: refreshToken, access_token: accessToken } = await harness.connect();
    for (const token of [accessToken, "none"]) {
      expect((await harness.refresh(token)).body).toMatchObject({ error: "invalid_grant", error_codes: [9002313] });
    }
    microsoft.revokeSessions("user");
    expect((await harness.refresh(refreshToken)).body).toMatchObject({ error: "invalid_grant", error_codes: [50173] });
    const { refresh_token: again } = await harness.connect();
    microsoft.disconnect("user", MICROSOFT_CLIENT.client_id);
    expect(await harness.refresh(again)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });
});

it("has no revocation endpoint", async () => {
  const { refresh_token: refreshToken } = await harness.connect();
  expect(microsoft.endpoints).not.toHaveProperty("revocation_endpoint");
  const metadata = await getJson(`${microsoft.url}/organizations/v2.0/.well-known/openid-configuration`);
  expect(metadata.body).not.toHaveProperty("revocation_endpoint");
  const answer = await postForm(`${microsoft.url}/organizations/oauth2/v2.0/revoke`, { token: String(refreshToken) });
  expect(answer.status).toBe(404);
  expect((await harness.refresh(refreshToken)).status).toBe(200);
});

describe("the MCP servers", () => {
  it("answers 404 in a wrong environment or for no server, 403 outside the preview", async () => {
    const { access_token: accessToken } = await harness.connect();
    expect((await harness.call(accessToken, ready.environments[1])).status).toBe(200);
    for (const [environment, server] of [
      ["ffffffff-0000-4000-8000-000000000000", "mcp_MailTools"],
      [other.environments[0]!, "mcp_MailTools"],
      [ready.environments[0]!, "mcp_NoSuchServer"],
    ] as const) {
      expect((await harness.call(accessToken, environment, server)).status).toBe(404);
    }
    ready.inPreview = false;
    expect((await harness.call(accessToken)).status).toBe(403);
  });

  it("asks for consent in its own way, and for a token otherwise", async () => {
    const { access_token: accessToken } = await harness.connect();
    const answer = await harness.call(accessToken, undefined, "mcp_WordServer");
    expect([answer.status, answer.body]).toMatchObject([200, { error: { code: -32006 } }]);
    expect(JSON.stringify(answer.body)).toContain("CONSENT_REQUIRED: http");
    const anonymous = await postJson(microsoft.mcpServer(ready.environments[0]!, "mcp_MailTools"), {}, bearer("none"));
    expect(anonymous.headers.get("WWW-Authenticate")).toContain("authorization_uri");
    for (const name of microsoft.errors.api!) {
      microsoft.refuseNext("api", name);
      const { status, text } = await harness.call(accessToken);
      expect(name === "-32006" ? text : String(status)).toContain(name);
    }
    expect((await harness.call(accessToken)).status).toBe(200);
  });
});
