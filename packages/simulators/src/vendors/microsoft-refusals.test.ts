import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCookieJar } from "../cookie-jar.ts";
import { MAIL, MICROSOFT_CLIENT, startMicrosoftHarness, type MicrosoftHarness } from "./testing/microsoft-harness.ts";
import { CALLBACK, goThrough, pageOf, postJson, withQuery, basic } from "./testing/http.ts";

let harness: MicrosoftHarness;
let microsoft: MicrosoftHarness["microsoft"];
let ready: MicrosoftHarness["ready"];
let other: MicrosoftHarness["other"];
beforeEach(async () => {
  harness = await startMicrosoftHarness();
  ({ microsoft, ready, other } = harness);
});
afterEach(() => microsoft.close());

const described = (code: string) => ({
  error_description: expect.stringContaining(code),
  error_uri: expect.stringMatching(new RegExp(`/error\\?code=${code.replace(/\D/g, "")}$`)),
  state: "s1",
});

describe("a tenant without consent", () => {
  it("sends a user back with 90094", async () => {
    microsoft.settings.homeTenant = other.id;
    expect(await goThrough(harness.authorizeUrl())).toMatchObject({
      error: "access_denied",
      ...described("AADSTS90094:"),
    });
    expect(microsoft.liveTokens()).toEqual([]);
  });

  it("admits an administrator who consents in the flow, for that user only", async () => {
    microsoft.settings.homeTenant = other.id;
    const cookieJar = createCookieJar();
    expect(await harness.connect({}, { account: "operator", cookieJar })).toHaveProperty("refresh_token");
    expect(await goThrough(harness.authorizeUrl())).toMatchObject(described("AADSTS90094:"));
  });

  it("stops users at prompt=consent although the administrator has consented", async () => {
    expect(await goThrough(harness.authorizeUrl({ prompt: "consent" }))).toMatchObject(described("AADSTS90094:"));
    expect(await goThrough(harness.authorizeUrl({ prompt: "select_account" }))).toHaveProperty("code");
  });

  it.each([
    ["documented", { error: "consent_required" }],
    ["observed", { error: "invalid_grant", suberror: "consent_required" }],
  ] as const)("answers refreshing with 65001 once consent is gone, as %s", async (tokenErrors, body) => {
    microsoft.settings.tokenErrors = tokenErrors;
    const { refresh_token: refreshToken } = await harness.at(ready.id).connect();
    expect((await harness.refresh(refreshToken)).status).toBe(200);
    ready.adminConsent = false;
    expect(await harness.refresh(refreshToken)).toMatchObject({ status: 400, body: { ...body, error_codes: [65001] } });
  });
});

describe("admin consent", () => {
  const ask = (tenant: string, query: Record<string, string> = {}, version = "") =>
    withQuery(`${microsoft.url}/${tenant}${version}/adminconsent`, {
      client_id: MICROSOFT_CLIENT.client_id,
      redirect_uri: CALLBACK,
      state: "s1",
      ...query,
    });

  it("comes back with the tenant when the administrator accepts, and lets its users in", async () => {
    const callback = await goThrough(ask(other.id), { account: "operator" });
    expect(callback).toEqual({ admin_consent: "True", tenant: other.id, state: "s1" });
    expect(await harness.at(other.id).connect()).toHaveProperty("refresh_token");
  });

  it("comes back with AADSTS65004 when the administrator cancels, 90094 for anyone else", async () => {
    const cancelled = await goThrough(ask(other.id), { account: "operator", decision: "cancel" });
    expect(cancelled).toMatchObject({ error: "access_denied", admin_consent: "True", ...described("AADSTS65004") });
    expect(await goThrough(ask(other.id))).toMatchObject(described("AADSTS90094"));
    expect(other.adminConsent).toBe(false);
  });

  it("has the v2.0 form, which wants scopes and says consent_required", async () => {
    expect(await pageOf(ask("organizations", {}, "/v2.0"))).toMatchObject({ status: 400 });
    microsoft.settings.homeTenant = other.id;
    const url = ask("organizations", { scope: MAIL }, "/v2.0");
    expect(await goThrough(url, { account: "operator", decision: "cancel" })).toMatchObject({
      error: "consent_required",
    });
    const callback = await goThrough(url, { account: "operator" });
    expect(callback).toEqual({ admin_consent: "True", tenant: other.id, scope: MAIL, state: "s1" });
  });
});

describe("refusals at the callback", () => {
  it.each([
    ["invalid_target", "AADSTS9010010", { resource: "https://tool.example/mcp" }],
    ["invalid_request", "AADSTS901002", { resource: "https://tool.example/mcp", scope: "openid" }],
    ["invalid_scope", "AADSTS70011", { scope: "everything" }],
    ["invalid_request", "AADSTS900144", { scope: undefined }],
    ["invalid_request", "AADSTS900144", { code_challenge_method: "S512" }],
    ["login_required", "AADSTS50058", { prompt: "none" }],
  ])("says %s with %s for %j", async (error, code, query) => {
    expect(await goThrough(harness.authorizeUrl(query))).toMatchObject({ error, ...described(`${code}:`) });
  });

  it.each([
    ["AADSTS700016", { client_id: "unknown" }, "organizations"],
    ["AADSTS50011", { redirect_uri: `${CALLBACK}/other` }, "organizations"],
    ["AADSTS90002", {}, "dddddddd-0000-4000-8000-000000000009"],
    ["AADSTS90002", {}, "consumers"],
  ])("shows %s on a page for %j at %s", async (code, query, tenant) => {
    expect(await pageOf(harness.at(tenant).authorizeUrl(query))).toMatchObject({
      status: 400,
      text: expect.stringContaining(code),
    });
  });
});

describe("refusals at the token endpoint", () => {
  it("have the members of Microsoft's errors", async () => {
    const { body } = await harness.redeem("none");
    expect(body).toEqual({
      error: "invalid_grant",
      error_description: expect.stringMatching(/^AADSTS9002313: .+ Trace ID: .+ Correlation ID: .+ Timestamp: .+Z$/),
      error_codes: [9002313],
      timestamp: "2023-11-14 22:13:20Z",
      trace_id: expect.any(String),
      correlation_id: expect.any(String),
      error_uri: `${microsoft.url}/error?code=9002313`,
    });
  });

  it.each([
    [400, "invalid_client", 500112, { redirect_uri: `${CALLBACK}/other` }],
    [400, "unauthorized_client", 700016, { client_id: "unknown" }],
    [400, "invalid_target", 9010010, { resource: "https://tool.example/mcp" }],
    [400, "invalid_request", 901002, { resource: "https://tool.example/mcp", scope: "openid" }],
    [400, "invalid_scope", 70011, { scope: "everything" }],
    [400, "consent_required", 65001, { scope: MAIL.replace("Mail", "Teams") }],
  ])("%i %s %i for %j, and the code stays good", async (status, error, number, form) => {
    const { code } = await goThrough(harness.authorizeUrl());
    expect(await harness.redeem(code, form)).toMatchObject({ status, body: { error, error_codes: [number] } });
    expect((await harness.redeem(code)).status).toBe(200);
  });

  it("90002 for no tenant, and a form is needed", async () => {
    expect((await harness.at("none").redeem("none")).body).toMatchObject({ error_codes: [90002] });
    const asJson = await postJson(microsoft.endpoints["token_endpoint"]!, { code: "none" });
    expect(asJson.body).toMatchObject({ error_codes: [900144] });
  });

  it.each([
    ["documented", { error: "interaction_required" }],
    ["observed", { error: "invalid_grant", suberror: "basic_action" }],
  ] as const)("50076 with claims once MFA is wanted, as %s; signing in again passes", async (tokenErrors, body) => {
    microsoft.settings.tokenErrors = tokenErrors;
    const { refresh_token: refreshToken, access_token: accessToken } = await harness.connect();
    microsoft.settings.mfaRequired = true;
    const refused = await harness.refresh(refreshToken);
    expect(refused).toMatchObject({ status: 400, body: { ...body, error_codes: [50076] } });
    const claims = String(refused.body["claims"]);
    const challenge = (await harness.call(accessToken)).headers.get("WWW-Authenticate");
    expect(challenge).toContain(`error="insufficient_claims", claims="${Buffer.from(claims).toString("base64")}"`);
    const again = await harness.connect({ claims });
    expect((await harness.call(again["access_token"])).status).toBe(200);
    expect((await harness.refresh(again["refresh_token"])).status).toBe(200);
  });
});

describe("client authentication", () => {
  it("takes Basic, and an assertion by a certificate's key", async () => {
    const { client_id: clientId, client_secret: clientSecret } = MICROSOFT_CLIENT;
    const { privateKey, publicKey } = await generateKeyPair("PS256");
    const certificates = [{ ...(await exportJWK(publicKey)), "x5t#S256": "thumbprint" }];
    microsoft.addClient({ clientId, clientSecret, redirectUris: [CALLBACK], certificates });
    const { refresh_token: refreshToken } = await harness.connect();
    const form = { grant_type: "refresh_token", refresh_token: String(refreshToken) };
    expect((await harness.at(ready.id).token(form, basic(clientId, clientSecret))).status).toBe(200);

    const endpoint = microsoft.endpointsOf(ready.id)["token_endpoint"]!;
    const assert = async (claims: object, { key = privateKey, thumbprint = "thumbprint" } = {}) => {
      const now = harness.now();
      const all = { iss: clientId, sub: clientId, aud: endpoint, jti: "j1", iat: now, exp: now + 60, ...claims };
      const header = { alg: "PS256", "x5t#S256": thumbprint };
      const assertion = await new SignJWT(all).setProtectedHeader(header).sign(key);
      return harness.at(ready.id).token({
        ...form,
        client_id: clientId,
        client_assertion: assertion,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      });
    };
    expect((await assert({})).status).toBe(200);
    expect((await assert({ exp: harness.now() - 1 })).body).toMatchObject({ error_codes: [700024] });
    expect((await assert({ aud: `${microsoft.url}/token` })).body).toMatchObject({ error_codes: [700023] });
    expect((await assert({ sub: "another" })).body).toMatchObject({ error_codes: [700027] });
    expect((await assert({}, { thumbprint: "another" })).body).toMatchObject({ error_codes: [700027] });
    const stranger = await generateKeyPair("PS256");
    expect(await assert({}, { key: stranger.privateKey })).toMatchObject({
      status: 401,
      body: { error: "invalid_client", error_codes: [700027] },
    });
  });

  it("tells a wrong secret from an expired one", async () => {
    const { client_id: clientId, client_secret: clientSecret } = MICROSOFT_CLIENT;
    const { refresh_token: refreshToken } = await harness.connect();
    const refresh = (secret: string) => harness.refresh(refreshToken, { client_secret: secret });
    expect(await refresh("wrong")).toMatchObject({
      status: 401,
      body: { error: "invalid_client", error_codes: [7000215] },
    });
    expect(await refresh("")).toMatchObject({ status: 401, body: { error: "invalid_client", error_codes: [7000218] } });
    const redirectUris = [CALLBACK];
    microsoft.addClient({
      clientId,
      clientSecret,
      redirectUris,
      secretExpiresAt: harness.now() + 10,
    });
    expect((await refresh(clientSecret)).status).toBe(200);
    harness.now.advance(10);
    expect(await refresh(clientSecret)).toMatchObject({
      status: 401,
      body: { error: "invalid_client", error_codes: [7000222], error_description: expect.stringContaining("expired") },
    });
  });
});
