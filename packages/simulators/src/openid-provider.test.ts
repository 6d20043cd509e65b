import { spawnSync } from "node:child_process";
import * as oauth from "oauth4webapi";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createCookieJar } from "./cookie-jar.ts";
import { driveConsent, type DriveConsentOptions } from "./drive-consent.ts";
import { startOpenIdProvider, type OpenIdProvider } from "./openid-provider.ts";

const REDIRECT_URI = "http://127.0.0.1:9/callback";
const SCOPE = "openid profile email offline_access api:read api:write";
const client: oauth.Client = { client_id: "broker" };
const authentication = oauth.ClientSecretBasic("broker-secret-broker-secret-broker");
const insecure = { [oauth.allowInsecureRequests]: true };

let op: OpenIdProvider;
let as: oauth.AuthorizationServer;

beforeAll(async () => {
  op = await startOpenIdProvider({
    clients: [{ clientId: "broker", clientSecret: "broker-secret-broker-secret-broker", redirectUris: [REDIRECT_URI], clientName: "The broker" }],
  });
  as = await oauth.discoveryRequest(new URL(op.issuer), insecure).then((answer) => oauth.processDiscoveryResponse(new URL(op.issuer), answer));
});
afterEach(() => op.faults.clear());
afterAll(() => op.close());

interface Started {
  readonly url: URL;
  readonly verifier: string;
}

async function start(parameters: Readonly<Record<string, string>> = {}): Promise<Started> {
  const verifier = oauth.generateRandomCodeVerifier();
  const url = new URL(as.authorization_endpoint ?? "");
  const challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const all = { client_id: "broker", redirect_uri: REDIRECT_URI, response_type: "code", scope: SCOPE, state: "s1", prompt: "consent", code_challenge: challenge, code_challenge_method: "S256", ...parameters };
  url.search = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== "")).toString();
  return { url, verifier };
}

const stopAt = (url: URL): boolean => url.href.startsWith(REDIRECT_URI);
const drive = (url: URL, options: Partial<DriveConsentOptions> = {}): Promise<URL> => driveConsent(url, { stopAt, ...options });

async function redeem(callback: URL, verifier: string): Promise<oauth.TokenEndpointResponse> {
  const parameters = oauth.validateAuthResponse(as, client, callback, "s1");
  const answer = await oauth.authorizationCodeGrantRequest(as, client, authentication, parameters, REDIRECT_URI, verifier, insecure);
  return oauth.processAuthorizationCodeResponse(as, client, answer, { requireIdToken: true });
}

async function refresh(refreshToken: string): Promise<oauth.TokenEndpointResponse> {
  const answer = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, insecure);
  return oauth.processRefreshTokenResponse(as, client, answer);
}

async function members(answer: Promise<Response>): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await (await answer).text());
}

async function connect(): Promise<oauth.TokenEndpointResponse> {
  const { url, verifier } = await start();
  return redeem(await drive(url), verifier);
}

describe("the code flow", () => {
  it("ends with an ID token, both tokens, the granted scope and `iss` beside the code", async () => {
    const { url, verifier } = await start();
    const callback = await drive(url, { account: "operator" });
    expect(callback.searchParams.get("iss")).toBe(op.issuer);
    const tokens = await redeem(callback, verifier);
    expect(oauth.getValidatedIdTokenClaims(tokens)).toMatchObject({ iss: op.issuer, sub: "operator", aud: "broker" });
    expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 3600, scope: SCOPE, refresh_token: expect.any(String) });
    const userinfo = await oauth.userInfoRequest(as, client, tokens.access_token, insecure);
    expect(await userinfo.json()).toMatchObject({ sub: "operator", email: "operator@sandbox.example" });
  });

  it("gives a refresh token without offline_access too", async () => {
    const { url, verifier } = await start({ prompt: "", scope: "openid api:read" });
    expect(await redeem(await drive(url), verifier)).toHaveProperty("refresh_token");
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
    await drive((await start({ prompt: "", scope: "openid" })).url, { cookieJar });
    const before = op.requests().length;
    await drive((await start({ prompt: "", scope: "openid" })).url, { cookieJar });
    expect(op.requests().slice(before).map(({ path }) => path)).toEqual(["/auth"]);
  });

  it("refuses a request without PKCE", async () => {
    const { url } = await start({ code_challenge: "", code_challenge_method: "" });
    expect(Object.fromEntries((await drive(url)).searchParams)).toMatchObject({ error: "invalid_request", state: "s1", iss: op.issuer });
  });

  it("refuses another verifier", async () => {
    const { url } = await start();
    await expect(redeem(await drive(url), oauth.generateRandomCodeVerifier())).rejects.toMatchObject({ error: "invalid_grant" });
  });

  it.each(["cancel", "cancel-sign-in"] as const)("answers access_denied on %s", async (decision) => {
    const { url } = await start();
    const callback = await drive(url, { decision });
    expect(Object.fromEntries(callback.searchParams)).toMatchObject({ error: "access_denied", state: "s1", iss: op.issuer });
    expect(callback.searchParams.has("code")).toBe(false);
  });

  it("shows a page, not a redirect, for a foreign redirect URI", async () => {
    const { url } = await start({ redirect_uri: "http://127.0.0.1:9/other" });
    await expect(drive(url)).rejects.toMatchObject({ cause: { status: 400, body: expect.stringContaining("invalid_redirect_uri") } });
  });

  it("shows a page to a browser that did not begin the sign-in", async () => {
    const answer = await fetch(`${op.issuer}/interaction/not-mine`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("another browser");
  });
});

describe("refresh and revocation", () => {
  it("rotates: the new token works, the old one used again ends the grant", async () => {
    const first = await connect();
    const second = await refresh(first.refresh_token ?? "");
    expect(second.refresh_token).not.toBe(first.refresh_token);
    await expect(refresh(first.refresh_token ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
    await expect(refresh(second.refresh_token ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
  });

  it("ends the grant when the refresh token is revoked", async () => {
    const tokens = await connect();
    const answer = await oauth.revocationRequest(as, client, authentication, tokens.refresh_token ?? "", insecure);
    await oauth.processRevocationResponse(answer);
    await expect(refresh(tokens.refresh_token ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
    expect((await oauth.userInfoRequest(as, client, tokens.access_token, insecure)).status).toBe(401);
  });
});

describe("what tests can see and break", () => {
  it("records requests with their secrets", async () => {
    const { refresh_token: refreshToken = "" } = await connect();
    await refresh(refreshToken);
    expect(op.requests().at(-1)).toMatchObject({
      method: "POST",
      path: "/token",
      status: 200,
      body: { grant_type: "refresh_token", refresh_token: refreshToken },
      headers: { authorization: expect.stringMatching(/^Basic /) },
    });
  });

  it("answers, drops, loses and rewrites once, in order", async () => {
    let { refresh_token: refreshToken = "" } = await connect();
    op.faults.next("/token", { kind: "answer", status: 503, body: '{"error":"temporarily_unavailable"}' });
    op.faults.next("/token", { kind: "drop" });
    op.faults.next("/token", { kind: "rewrite", rewrite: (answer) => ({ ...answer, extra: "yes" }) });
    op.faults.next("/token", { kind: "lose" });
    await expect(refresh(refreshToken)).rejects.toMatchObject({ cause: { status: 503 } });
    await expect(refresh(refreshToken)).rejects.toThrow("fetch failed");
    expect(op.requests().at(-1)).toMatchObject({ status: 0, body: { refresh_token: refreshToken } });
    const rewritten = await refresh(refreshToken);
    expect(rewritten["extra"]).toBe("yes");
    refreshToken = rewritten.refresh_token ?? "";
    await expect(refresh(refreshToken)).rejects.toThrow("fetch failed");
    await expect(refresh(refreshToken)).rejects.toMatchObject({ error: "invalid_grant" });
  });
});

describe("options", () => {
  it("registers clients dynamically, keeps refresh tokens and does without PKCE when told to", async () => {
    const other = await startOpenIdProvider({ clients: [], registration: { initialAccessToken: "iat" }, rotateRefreshTokens: false, pkceRequired: false });
    try {
      const register = (token: string): Promise<Response> =>
        fetch(`${other.issuer}/reg`, {
          method: "POST",
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
          body: JSON.stringify({ redirect_uris: [REDIRECT_URI], grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "client_secret_post" }),
        });
      expect((await register("wrong")).status).toBe(401);
      const { client_id: clientId = "", client_secret: clientSecret = "" } = await members(register("iat"));
      const { url } = await start({ client_id: clientId, code_challenge: "", code_challenge_method: "" });
      const callback = await drive(new URL(`${other.issuer}/auth${url.search}`));
      const token = (form: Record<string, string>): Promise<Response> =>
        fetch(`${other.issuer}/token`, { method: "POST", body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...form }) });
      const code = callback.searchParams.get("code") ?? "";
      const tokens = await members(token({ grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI }));
      const again = await members(token({ grant_type: "refresh_token", refresh_token: tokens["refresh_token"] ?? "" }));
      expect(again).toMatchObject({ refresh_token: tokens["refresh_token"] });
    } finally {
      await other.close();
    }
  });

  it("writes nothing to the terminal of the process it starts in", () => {
    const program = `import { startOpenIdProvider } from ${JSON.stringify(new URL("openid-provider.ts", import.meta.url).href)};
      await (await startOpenIdProvider({ clients: [] })).close();`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  });
});
