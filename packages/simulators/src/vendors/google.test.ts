import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCookieJar } from "../cookie-jar.ts";
import type { GoogleSimulator } from "./google.ts";
import { DRIVE, GMAIL, GOOGLE_CLIENT, startGoogleBench, type GoogleBench } from "./testing/google-bench.ts";
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
} from "./testing/raw-http.ts";

const DAY = 24 * 3600;

let bench: GoogleBench;
let google: GoogleSimulator;
beforeEach(async () => {
  bench = await startGoogleBench();
  ({ google } = bench);
});
afterEach(() => google.close());

describe("connect", () => {
  it("answers a code, then tokens that the API takes", async () => {
    const callback = await goThrough(bench.authorizeUrl());
    const scope = `openid email ${GMAIL} ${DRIVE}`;
    expect(callback).toMatchObject({ state: "s1", scope, authuser: "0", prompt: "consent" });
    const { body } = await bench.redeem(callback["code"]);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^ya29\./),
      expires_in: 3599,
      scope,
      token_type: "Bearer",
      refresh_token: expect.stringMatching(/^1\/\/0/),
      id_token: expect.any(String),
    });
    expect((await bench.call(body!["access_token"])).status).toBe(200);
    bench.advance(3599);
    expect((await bench.call(body!["access_token"])).body).toMatchObject({
      error: { code: 401, status: "UNAUTHENTICATED" },
    });
  });

  it("takes the secret as Basic too, and needs a form", async () => {
    const { code = "" } = await goThrough(bench.authorizeUrl());
    const form = { grant_type: "authorization_code", code, code_verifier: bench.verifier, redirect_uri: CALLBACK };
    expect((await postJson(google.endpoints["token_endpoint"]!, { ...form, ...GOOGLE_CLIENT })).status).toBe(400);
    expect((await bench.token(form, basic(GOOGLE_CLIENT.client_id, GOOGLE_CLIENT.client_secret))).status).toBe(200);
  });

  it.each(["with scheme", "without scheme"] as const)("signs an ID token whose issuer comes %s", async (form) => {
    google.settings.idTokenIssuer = form;
    const { id_token: idToken } = await bench.connect();
    const metadata = await getJson(`${google.url}/.well-known/openid-configuration`);
    expect(metadata.body).toMatchObject({ ...google.endpoints, code_challenge_methods_supported: ["plain", "S256"] });
    const { body: jwks } = await getJson(String(metadata.body!["jwks_uri"]));
    const { payload, protectedHeader } = await jwtVerify(
      String(idToken),
      createLocalJWKSet(jwks as unknown as JSONWebKeySet),
      { currentDate: new Date(bench.now() * 1000), audience: GOOGLE_CLIENT.client_id },
    );
    expect(protectedHeader.alg).toBe("RS256");
    expect(payload).toMatchObject({ nonce: "n1", email: "user@sandbox.example", hd: "sandbox.example" });
    expect(payload.iss).toBe(form === "with scheme" ? google.url : google.url.slice("http://".length));
    expect(payload.sub).toMatch(/^\d{21}$/);
  });

  it("says who it is at userinfo, to a live token only", async () => {
    const { access_token: accessToken } = await bench.connect({ scope: "openid profile" });
    const userinfo = google.endpoints["userinfo_endpoint"]!;
    expect((await getJson(userinfo, bearer(accessToken))).body).toEqual({
      sub: expect.stringMatching(/^\d{21}$/),
      name: "Sample user",
    });
    expect((await getJson(userinfo, bearer("ya29.other"))).status).toBe(401);
  });

  it("gives fewer scopes when the person unticks some, and none of them by itself", async () => {
    google.settings.unticked = [GMAIL];
    const callback = await goThrough(bench.authorizeUrl());
    expect(callback["scope"]).toBe(`openid email ${DRIVE}`);
    const { body } = await bench.redeem(callback["code"]);
    expect(body!["scope"]).toBe(`openid email ${DRIVE}`);
    expect((await bench.call(body!["access_token"])).body).toMatchObject({
      error: { code: 403, details: [{ reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT" }] },
    });
  });

  it("adds what was allowed before with include_granted_scopes", async () => {
    await bench.connect({ scope: GMAIL });
    expect(await bench.connect({ scope: DRIVE })).toMatchObject({ scope: DRIVE });
    expect(await bench.connect({ scope: DRIVE, include_granted_scopes: "true" })).toMatchObject({
      scope: `${GMAIL} ${DRIVE}`,
    });
  });

  it.each([
    ["without access_type=offline", { access_type: undefined }],
    ["with access_type=online", { access_type: "online" }],
  ])("gives no refresh token %s", async (_name, query) => {
    expect(await bench.connect(query)).not.toHaveProperty("refresh_token");
  });

  it("gives a refresh token at the first consent, then only with prompt=consent", async () => {
    const cookieJar = createCookieJar();
    expect(await bench.connect({ prompt: undefined }, { cookieJar })).toHaveProperty("refresh_token");
    expect(await bench.connect({ prompt: undefined }, { cookieJar })).not.toHaveProperty("refresh_token");
    expect(await bench.connect({ prompt: "select_account consent" }, { cookieJar })).toHaveProperty("refresh_token");
  });
});

describe("refresh", () => {
  it("answers no refresh token and keeps the old one", async () => {
    const { refresh_token: refreshToken } = await bench.connect();
    for (const _ of [1, 2]) {
      const { status, body } = await bench.refresh(refreshToken);
      expect(status).toBe(200);
      expect(body).not.toHaveProperty("refresh_token");
      expect((await bench.call(body!["access_token"])).status).toBe(200);
    }
  });

  const dead = { error: "invalid_grant", error_description: "Token has been expired or revoked." };

  it("ends after seven days while the app is in testing, which only test users get into", async () => {
    google.settings.publishing = "testing";
    google.settings.testUsers = ["user"];
    const page = await pageOf(bench.authorizeUrl(), { account: "operator" });
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("access_denied")]);
    const { refresh_token: refreshToken, refresh_token_expires_in: lifetime } = await bench.connect();
    expect(lifetime).toBe(7 * DAY - 1);
    bench.advance(7 * DAY - 1);
    expect((await bench.refresh(refreshToken)).status).toBe(200);
    bench.advance(1);
    expect(await bench.refresh(refreshToken)).toMatchObject({ status: 400, body: dead });
  });

  it("ends after six months without use, by a password change with Gmail scopes, and as the 101st", async () => {
    const { refresh_token: kept } = await bench.connect();
    bench.advance(182 * DAY);
    expect((await bench.refresh(kept)).status).toBe(200);
    bench.advance(183 * DAY);
    expect(await bench.refresh(kept)).toMatchObject({ status: 400, body: dead });

    const [{ refresh_token: mail }, { refresh_token: files }] = [
      await bench.connect(),
      await bench.connect({ scope: DRIVE }),
    ];
    google.changePassword("user");
    expect(await bench.refresh(mail)).toMatchObject({ status: 400, body: dead });
    expect((await bench.refresh(files)).status).toBe(200);

    const cookieJar = createCookieJar();
    for (let n = 0; n < 99; n += 1) await bench.connect({ scope: DRIVE }, { cookieJar });
    expect((await bench.refresh(files)).status).toBe(200);
    await bench.connect({ scope: DRIVE }, { cookieJar });
    expect(await bench.refresh(files)).toMatchObject({ status: 400, body: dead });
  });

  it("asks for a new sign-in as invalid_grant with a subtype", async () => {
    const { refresh_token: refreshToken } = await bench.connect();
    google.settings.reauthenticationRequired = true;
    expect(await bench.refresh(refreshToken)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant", error_subtype: "invalid_rapt" },
    });
    google.settings.reauthenticationRequired = false;
    expect((await bench.refresh(refreshToken)).status).toBe(200);
  });

  it("refuses a token it does not know, or of another app", async () => {
    const { refresh_token: refreshToken, access_token: accessToken } = await bench.connect();
    google.addClient({ clientId: "other", clientSecret: "another secret", redirectUris: [CALLBACK] });
    const other = { client_id: "other", client_secret: "another secret" };
    expect(await bench.refresh(refreshToken, other)).toMatchObject({ status: 400, body: dead });
    expect(await bench.refresh(accessToken)).toMatchObject({ status: 400, body: dead });
    expect(await bench.refresh("1//0none")).toMatchObject({ status: 400, body: dead });
  });
});

describe("revoke", () => {
  it.each(["refresh_token", "access_token"])(
    "ends the whole grant by the %s, without client authentication",
    async (name) => {
      const [first, second] = [await bench.connect(), await bench.connect({ scope: DRIVE })];
      const revoke = (value: unknown) =>
        withQuery(google.endpoints["revocation_endpoint"]!, { token: String(value) }).href;
      const done = await postForm(revoke(first[name]), {});
      expect([done.status, done.text]).toEqual([200, ""]);
      expect(google.liveTokens("user")).toEqual([]);
      expect((await bench.refresh(second["refresh_token"])).status).toBe(400);
      expect(await postForm(revoke(first[name]), {})).toMatchObject({ status: 400, body: { error: "invalid_token" } });
      // The consent is gone too: without prompt=consent a page is shown again.
      expect(await bench.connect({ prompt: undefined })).toHaveProperty("refresh_token");
    },
  );

  it("takes the token in the form too, ends with the person's own removal, and has no GET", async () => {
    const endpoint = google.endpoints["revocation_endpoint"]!;
    const { refresh_token: refreshToken } = await bench.connect();
    expect((await getJson(`${endpoint}?token=${String(refreshToken)}`)).status).toBe(404);
    expect((await postForm(endpoint, { token: String(refreshToken) })).status).toBe(200);
    const { refresh_token: other } = await bench.connect();
    google.disconnect("user", GOOGLE_CLIENT.client_id);
    expect(await postForm(endpoint, { token: String(other) })).toMatchObject({ status: 400 });
    google.refuseNext("revocation", "invalid_token");
    expect((await postForm(endpoint, { token: String((await bench.connect())["access_token"]) })).status).toBe(400);
  });
});
