import { spawnSync } from "node:child_process";
import * as oauth from "oauth4webapi";
import { shared } from "@oauth-broker/oauth-core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createCookieJar } from "./cookie-jar.ts";
import { startOpenIdProvider } from "./openid-provider.ts";
import { BROKER_CLIENT, createProviderTestClient, drive, REDIRECT_URI, SCOPE } from "./testing/provider-client.ts";

const op = shared(() => startOpenIdProvider({ clients: [BROKER_CLIENT] }));
const client = shared(() => createProviderTestClient(op.issuer));
afterEach(() => op.faults.clear());

async function members(answer: Promise<Response>): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await (await answer).text());
}

describe("the code flow", () => {
  it("ends with an ID token, both tokens, the granted scope and `iss` beside the code", async () => {
    const { url, codeVerifier } = await client.start();
    const callback = await drive(url, { account: "operator" });
    expect(callback.searchParams.get("iss")).toBe(op.issuer);
    const tokens = await client.redeem(callback, codeVerifier);
    expect(oauth.getValidatedIdTokenClaims(tokens)).toMatchObject({ iss: op.issuer, sub: "operator", aud: "broker" });
    expect(tokens).toMatchObject({
      token_type: "bearer",
      expires_in: 3600,
      scope: SCOPE,
      refresh_token: expect.any(String),
    });
    const userinfo = await client.userinfo(tokens.access_token);
    expect(await userinfo.json()).toMatchObject({ sub: "operator", email: "operator@sandbox.example" });
  });

  it("gives a refresh token without offline_access too", async () => {
    const { url, codeVerifier } = await client.start({ prompt: "", scope: "openid api:read" });
    expect(await client.redeem(await drive(url), codeVerifier)).toHaveProperty("refresh_token");
  });

  it("publishes its metadata for OpenID and for OAuth", async () => {
    const answer = await fetch(`${op.issuer}/.well-known/oauth-authorization-server`);
    expect(await answer.json()).toMatchObject({
      issuer: op.issuer,
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ["S256"],
      id_token_signing_alg_values_supported: ["ES256"],
      revocation_endpoint: expect.stringContaining(op.issuer),
    });
  });

  it("asks a browser that it knows for nothing but the consent that is new", async () => {
    const cookieJar = createCookieJar();
    await drive((await client.start({ prompt: "", scope: "openid" })).url, { cookieJar });
    const before = op.requests().length;
    await drive((await client.start({ prompt: "", scope: "openid" })).url, { cookieJar });
    expect(
      op
        .requests()
        .slice(before)
        .map(({ path }) => path),
    ).toEqual(["/auth"]);
  });

  it("refuses a request without PKCE", async () => {
    const { url } = await client.start({ code_challenge: "", code_challenge_method: "" });
    expect(Object.fromEntries((await drive(url)).searchParams)).toMatchObject({
      error: "invalid_request",
      state: "s1",
      iss: op.issuer,
    });
  });

  it("refuses another verifier", async () => {
    const { url } = await client.start();
    await expect(client.redeem(await drive(url), oauth.generateRandomCodeVerifier())).rejects.toMatchObject({
      error: "invalid_grant",
    });
  });

  it.each(["cancel", "cancel-sign-in"] as const)("answers access_denied on %s", async (decision) => {
    const { url } = await client.start();
    const callback = await drive(url, { decision });
    expect(Object.fromEntries(callback.searchParams)).toMatchObject({
      error: "access_denied",
      state: "s1",
      iss: op.issuer,
    });
    expect(callback.searchParams.has("code")).toBe(false);
  });

  it("shows a page, not a redirect, for a foreign redirect URI", async () => {
    const { url } = await client.start({ redirect_uri: "http://127.0.0.1:9/other" });
    await expect(drive(url)).rejects.toMatchObject({
      cause: { status: 400, body: expect.stringContaining("invalid_redirect_uri") },
    });
  });

  it("shows a page to a browser that did not begin the sign-in", async () => {
    const answer = await fetch(`${op.issuer}/interaction/not-mine`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("another browser");
  });
});

describe("refresh and revocation", () => {
  it("rotates: the new token works, the old one used again ends the grant", async () => {
    const first = await client.connect();
    const second = await client.refresh(first.refresh_token ?? "");
    expect(second.refresh_token).not.toBe(first.refresh_token);
    await expect(client.refresh(first.refresh_token ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
    await expect(client.refresh(second.refresh_token ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
  });

  it("ends the grant when the refresh token is revoked", async () => {
    const tokens = await client.connect();
    await client.revoke(tokens.refresh_token ?? "");
    await expect(client.refresh(tokens.refresh_token ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
    expect((await client.userinfo(tokens.access_token)).status).toBe(401);
  });
});

describe("what tests can see and break", () => {
  it("records requests with their secrets", async () => {
    const { refresh_token: refreshToken = "" } = await client.connect();
    await client.refresh(refreshToken);
    expect(op.requests().at(-1)).toMatchObject({
      method: "POST",
      path: "/token",
      status: 200,
      body: { grant_type: "refresh_token", refresh_token: refreshToken },
      headers: { authorization: expect.stringMatching(/^Basic /) },
    });
  });

  it("answers, drops, loses and rewrites once, in order", async () => {
    let { refresh_token: refreshToken = "" } = await client.connect();
    op.faults.next("/token", { kind: "answer", status: 503, body: '{"error":"temporarily_unavailable"}' });
    op.faults.next("/token", { kind: "drop" });
    op.faults.next("/token", { kind: "rewrite", rewrite: (answer) => ({ ...answer, extra: "yes" }) });
    op.faults.next("/token", { kind: "lose" });
    await expect(client.refresh(refreshToken)).rejects.toMatchObject({ cause: { status: 503 } });
    await expect(client.refresh(refreshToken)).rejects.toThrow("fetch failed");
    expect(op.requests().at(-1)).toMatchObject({ status: 0, body: { refresh_token: refreshToken } });
    const rewritten = await client.refresh(refreshToken);
    expect(rewritten["extra"]).toBe("yes");
    refreshToken = rewritten.refresh_token ?? "";
    await expect(client.refresh(refreshToken)).rejects.toThrow("fetch failed");
    await expect(client.refresh(refreshToken)).rejects.toMatchObject({ error: "invalid_grant" });
  });
});

describe("options", () => {
  it("registers clients and works without PKCE if configured", async () => {
    const other = await startOpenIdProvider({
      clients: [],
      registration: { initialAccessToken: "iat" },
      pkceRequired: false,
    });
    try {
      const register = (token: string): Promise<Response> =>
        fetch(`${other.issuer}/reg`, {
          method: "POST",
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
          body: JSON.stringify({
            redirect_uris: [REDIRECT_URI],
            grant_types: ["authorization_code", "refresh_token"],
            token_endpoint_auth_method: "client_secret_post",
          }),
        });
      expect((await register("wrong")).status).toBe(401);
      const { client_id: clientId = "", client_secret: clientSecret = "" } = await members(register("iat"));
      const { url } = await client.start({ client_id: clientId, code_challenge: "", code_challenge_method: "" });
      const callback = await drive(new URL(`${other.issuer}/auth${url.search}`));
      const token = (form: Record<string, string>): Promise<Response> =>
        fetch(`${other.issuer}/token`, {
          method: "POST",
          body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...form }),
        });
      const code = callback.searchParams.get("code") ?? "";
      const tokens = await members(token({ grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI }));
      expect(tokens).toHaveProperty("refresh_token");
    } finally {
      await other.close();
    }
  });

  it("writes nothing to the terminal of the process it starts in", () => {
    const program = `import { startOpenIdProvider } from ${JSON.stringify(new URL("openid-provider.ts", import.meta.url).href)};
      await (await startOpenIdProvider({ clients: [] })).close();`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  });
});
