import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCookieJar } from "../cookie-jar.ts";
import type { GoogleSimulator } from "./google.ts";
import { DRIVE, GMAIL, GOOGLE_CLIENT, startGoogleHarness, type GoogleHarness } from "./testing/google-harness.ts";
import {
  basic,
  bearer,
  CALLBACK,
  getJson,
  goThrough,
  pageOf,
  postForm,
  postJson,
  withQuery,
  VERIFIER,
} from "./testing/http.ts";

const DAY = 24 * 3600;

let harness: GoogleHarness;
let google: GoogleSimulator;
beforeEach(async () => {
  harness = await startGoogleHarness();
  ({ google } = harness);
});
afterEach(() => google.close());

describe("connect", () => {
  it("answers a code, then tokens that the API takes", async () => {
    const callback = await goThrough(harness.authorizeUrl());
    const scope = `openid email ${GMAIL} ${DRIVE}`;
    expect(callback).toMatchObject({ state: "s1", scope, authuser: "0", prompt: "consent" });
    const { body } = await harness.redeem(callback["code"]);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^ya29\./),
      expires_in: 3599,
      scope,
      token_type: "Bearer",
      refresh_token: expect.stringMatching(/^1\/\/0/),
      id_token: expect.any(String),
    });
    expect((await harness.call(body["access_token"])).status).toBe(200);
    harness.now.advance(3599);
    expect((await harness.call(body["access_token"])).body).toMatchObject({
      error: { code: 401, status: "UNAUTHENTICATED" },
    });
  });

  it("takes the secret as Basic too, and needs a form", async () => {
    const { code = "" } = await goThrough(harness.authorizeUrl());
    const form = { grant_type: "authorization_code", code, code_verifier: VERIFIER, redirect_uri: CALLBACK };
    expect((await postJson(google.endpoints["token_endpoint"]!, { ...form, ...GOOGLE_CLIENT })).status).toBe(400);
    expect((await harness.redeem(code, { client_secret: "" })).body).toMatchObject({ error: "invalid_request" });
    expect((await harness.token(form, basic(GOOGLE_CLIENT.client_id, GOOGLE_CLIENT.client_secret))).status).toBe(200);
  });

  it.each(["with scheme", "without scheme"] as const)("signs an ID token whose issuer comes %s", async (form) => {
    google.settings.idTokenIssuer = form;
    const { id_token: idToken } = await harness.connect();
    const metadata = await getJson(`${google.url}/.well-known/openid-configuration`);
    const { introspection_endpoint: _own, ...published } = google.endpoints;
    expect(metadata.body).toMatchObject({ ...published, code_challenge_methods_supported: ["plain", "S256"] });
    const { body: jwks } = await getJson(String(metadata.body["jwks_uri"]));
    const { payload, protectedHeader } = await jwtVerify(
      String(idToken),
      createLocalJWKSet(jwks as unknown as JSONWebKeySet),
      { currentDate: new Date(harness.now() * 1000), audience: GOOGLE_CLIENT.client_id },
    );
    expect(protectedHeader.alg).toBe("RS256");
    expect(payload).toMatchObject({ nonce: "n1", email: "user@sandbox.example", hd: "sandbox.example" });
    expect(payload.iss).toBe(form === "with scheme" ? google.url : google.url.slice("http://".length));
    expect(payload.sub).toMatch(/^\d{21}$/);
  });

  it("names the user at userinfo, to a live token only", async () => {
    const { access_token: accessToken } = await harness.connect({ scope: "openid profile" });
    const userinfo = google.endpoints["userinfo_endpoint"]!;
    expect((await getJson(userinfo, bearer(accessToken))).body).toEqual({
      sub: expect.stringMatching(/^\d{21}$/),
      name: "Sample user",
    });
    expect((await getJson(userinfo, bearer("ya29.other"))).status).toBe(401);
  });

  it("gives fewer scopes when the person unticks some, and none of them by itself", async () => {
    google.settings.unticked = [GMAIL];
    const callback = await goThrough(harness.authorizeUrl());
    expect(callback["scope"]).toBe(`openid email ${DRIVE}`);
    const { body } = await harness.redeem(callback["code"]);
    expect(body["scope"]).toBe(`openid email ${DRIVE}`);
    expect((await harness.call(body["access_token"])).body).toMatchObject({
      error: { code: 403, details: [{ reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT" }] },
    });
  });

  it("adds what was allowed before with include_granted_scopes", async () => {
    await harness.connect({ scope: GMAIL });
    expect(await harness.connect({ scope: DRIVE })).toMatchObject({ scope: DRIVE });
    expect(await harness.connect({ scope: DRIVE, include_granted_scopes: "true" })).toMatchObject({
      scope: `${GMAIL} ${DRIVE}`,
    });
  });

  it.each([
    ["without access_type=offline", { access_type: undefined }],
    ["with access_type=online", { access_type: "online" }],
  ])("gives no refresh token %s", async (_name, query) => {
    expect(await harness.connect(query)).not.toHaveProperty("refresh_token");
  });

  it("gives a refresh token at the first consent, then only with prompt=consent", async () => {
    const cookieJar = createCookieJar();
    expect(await harness.connect({ prompt: undefined }, { cookieJar })).toHaveProperty("refresh_token");
    expect(await harness.connect({ prompt: undefined }, { cookieJar })).not.toHaveProperty("refresh_token");
    expect(await harness.connect({ prompt: "select_account consent" }, { cookieJar })).toHaveProperty("refresh_token");
  });
});

describe("refresh", () => {
  it("answers no refresh token and keeps the old one", async () => {
    const { refresh_token: refreshToken } = await harness.connect();
    for (const _ of [1, 2]) {
      const { status, body } = await harness.refresh(refreshToken);
      expect(status).toBe(200);
      expect(body).not.toHaveProperty("refresh_token");
      expect((await harness.call(body["access_token"])).status).toBe(200);
    }
  });

  const dead = { error: "invalid_grant", error_description: "Token has been expired or revoked." };

  it("ends after seven days while the app is in testing, which only test users get into", async () => {
    google.settings.publishing = "testing";
    google.settings.testUsers = ["user"];
    const page = await pageOf(harness.authorizeUrl(), { account: "operator" });
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("access_denied")]);
    const { refresh_token: refreshToken, refresh_token_expires_in: lifetime } = await harness.connect();
    expect(lifetime).toBe(7 * DAY - 1);
    harness.now.advance(7 * DAY - 1);
    expect((await harness.refresh(refreshToken)).status).toBe(200);
    harness.now.advance(1);
    expect(await harness.refresh(refreshToken)).toMatchObject({ status: 400, body: dead });
  });

  it("ends after six idle months, by a password change with Gmail, as the 101st", async () => {
    const { refresh_token: kept } = await harness.connect();
    harness.now.advance(182 * DAY);
    expect((await harness.refresh(kept)).status).toBe(200);
    harness.now.advance(183 * DAY);
    expect(await harness.refresh(kept)).toMatchObject({ status: 400, body: dead });

    const [{ refresh_token: mail }, { refresh_token: files }] = [
      await harness.connect(),
      await harness.connect({ scope: DRIVE }),
    ];
    google.changePassword("user");
    expect(await harness.refresh(mail)).toMatchObject({ status: 400, body: dead });
    expect((await harness.refresh(files)).status).toBe(200);

    const cookieJar = createCookieJar();
    for (let n = 0; n < 99; n += 1) await harness.connect({ scope: DRIVE }, { cookieJar });
    expect((await harness.refresh(files)).status).toBe(200);
    await harness.connect({ scope: DRIVE }, { cookieJar });
    expect(await harness.refresh(files)).toMatchObject({ status: 400, body: dead });
  });

  it("asks for a new sign-in as invalid_grant with a subtype", async () => {
    const { refresh_token: refreshToken } = await harness.connect();
    google.settings.reauthenticationRequired = true;
    expect(await harness.refresh(refreshToken)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant", error_subtype: "invalid_rapt" },
    });
    google.settings.reauthenticationRequired = false;
    expect((await harness.refresh(refreshToken)).status).toBe(200);
  });

  it("refuses a token it does not know, or of another app", async () => {
    const { refresh_token: refreshToken, access_token: accessToken } = await harness.connect();
    google.addClient({ clientId: "other", clientSecret: "another secret", redirectUris: [CALLBACK] });
    const other = { client_id: "other", client_secret: "another secret" };
    expect(await harness.refresh(refreshToken, other)).toMatchObject({ status: 400, body: dead });
    expect(await harness.refresh(accessToken)).toMatchObject({ status: 400, body: dead });
    expect(await harness.refresh("1//0none")).toMatchObject({ status: 400, body: dead });
  });
});

describe("revoke", () => {
  it.each(["refresh_token", "access_token"])(
    "ends the whole grant by the %s, without client authentication",
    async (name) => {
      const [first, second] = [await harness.connect(), await harness.connect({ scope: DRIVE })];
      const revoke = (value: unknown) =>
        withQuery(google.endpoints["revocation_endpoint"]!, { token: String(value) }).href;
      const done = await postForm(revoke(first[name]), {});
      expect([done.status, done.text]).toEqual([200, ""]);
      expect(google.liveTokens("user")).toEqual([]);
      expect((await harness.refresh(second["refresh_token"])).status).toBe(400);
      expect(await postForm(revoke(first[name]), {})).toMatchObject({ status: 400, body: { error: "invalid_token" } });
      // The consent is gone too: without prompt=consent a page is shown again.
      expect(await harness.connect({ prompt: undefined })).toHaveProperty("refresh_token");
    },
  );

  it("takes the token in the form too, ends with the person's own removal, and has no GET", async () => {
    const endpoint = google.endpoints["revocation_endpoint"]!;
    const { refresh_token: refreshToken } = await harness.connect();
    expect((await getJson(`${endpoint}?token=${String(refreshToken)}`)).status).toBe(404);
    expect((await postForm(endpoint, { token: String(refreshToken) })).status).toBe(200);
    const { refresh_token: other } = await harness.connect();
    google.disconnect("user", GOOGLE_CLIENT.client_id);
    expect(await postForm(endpoint, { token: String(other) })).toMatchObject({ status: 400 });
    google.refuseNext("revocation", "invalid_token");
    expect((await postForm(endpoint, { token: String((await harness.connect())["access_token"]) })).status).toBe(400);
  });
});

describe("refusals", () => {
  it.each(["admin_policy_enforced", "org_internal"])("shows %s at the callback", async (error) => {
    google.refuseNext("authorization", error);
    expect(await goThrough(harness.authorizeUrl())).toEqual({ state: "s1", error });
  });

  it("shows disallowed_useragent on a page only", async () => {
    google.refuseNext("authorization", "disallowed_useragent");
    expect(await pageOf(harness.authorizeUrl())).toMatchObject({
      status: 403,
      text: expect.stringContaining("disallowed"),
    });
  });

  it.each([
    ["invalid_client", { client_id: "unknown" }, 401],
    ["redirect_uri_mismatch", { redirect_uri: `${CALLBACK}/` }, 400],
    ["invalid_scope", { scope: "openid calendar.everything" }, 400],
    ["invalid_request", { scope: undefined }, 400],
    ["invalid_request", { response_type: "token" }, 400],
    ["invalid_request", { access_type: "sometimes" }, 400],
  ])("shows %s on a page for %j", async (code, query, status) => {
    expect(await pageOf(harness.authorizeUrl(query))).toMatchObject({ status, text: expect.stringContaining(code) });
  });
});

describe("the API", () => {
  it.each(["not_requested", "pending", "refused"] as const)("answers 403 to a project that is %s", async (approval) => {
    google.settings.approval = approval;
    const { access_token: accessToken } = await harness.connect();
    expect((await harness.call(accessToken, "gmail", { id: 1, method: "tools/list" })).status).toBe(200);
    expect(await harness.call(accessToken)).toMatchObject({
      status: 403,
      body: { error: { code: 403, status: "PERMISSION_DENIED", message: "The caller does not have permission" } },
    });
    google.settings.approval = "approved";
    expect((await harness.call(accessToken)).status).toBe(200);
  });

  it("points to its authorization server, and has every listed error on demand", async () => {
    const { access_token: accessToken } = await harness.connect({
      scope: "https://www.googleapis.com/auth/chat.messages.create",
    });
    const anonymous = await postJson(google.mcpServer("chat"), {});
    const metadata = /resource_metadata="([^"]+)"/.exec(anonymous.headers.get("WWW-Authenticate") ?? "")?.[1];
    expect((await getJson(metadata!)).body).toMatchObject({
      resource: google.mcpServer("chat"),
      authorization_servers: [google.url],
    });
    expect((await harness.call(accessToken, "chat", { id: 1, method: "initialize" })).body).toMatchObject({ id: 1 });
    for (const name of google.errors.api!) {
      google.refuseNext("api", name);
      const { body } = await harness.call(accessToken, "chat");
      expect(JSON.stringify(body)).toContain(name);
    }
    expect((await harness.call(accessToken, "chat")).status).toBe(200);
  });
});
