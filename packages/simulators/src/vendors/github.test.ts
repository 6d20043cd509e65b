import { expect, it } from "vitest";
import { createCookieJar } from "../cookie-jar.ts";
import { CLIENT, SECRET, startHarness } from "./testing/github-harness.ts";
import { basic, bearer, browse, CALLBACK, CHALLENGE, postForm, request, VERIFIER } from "./testing/http.ts";

it("connects: callback with code and state, a token that identifies its user", async () => {
  const { vendor, authorize, token } = await startHarness();
  const callback = await authorize({ code_challenge: CHALLENGE, code_challenge_method: "S256" });
  expect(Object.keys(callback)).toEqual(["code", "state"]);
  expect(callback["state"]).toBe("s1");
  const answer = await token({ code: callback["code"]!, redirect_uri: CALLBACK, code_verifier: VERIFIER });
  expect(answer).toEqual({
    access_token: expect.stringMatching(/^gho_/),
    token_type: "bearer",
    scope: "repo,read:org",
  });
  const accessToken = answer["access_token"] as string;
  const user = await request(vendor.endpoints["userinfo_endpoint"]!, { headers: bearer(accessToken) });
  expect(user.body).toMatchObject({ login: "sample-user", name: "Sample user" });
  expect(user.headers.get("X-OAuth-Scopes")).toBe("repo, read:org");
  expect(vendor.liveTokens("user")).toEqual([accessToken]);
});

it("answers a form unless JSON is asked for, errors as well, and takes Basic", async () => {
  const { tokenEndpoint, authorize } = await startHarness();
  const { code = "" } = await authorize();
  const wrong = await postForm(tokenEndpoint, { ...SECRET, code: "no" });
  expect(wrong.status).toBe(200);
  expect(new URLSearchParams(wrong.text).get("error")).toBe("bad_verification_code");
  const right = await postForm(tokenEndpoint, { code }, basic(CLIENT.clientId, CLIENT.clientSecret));
  expect(right.headers.get("Content-Type")).toMatch("application/x-www-form-urlencoded");
  expect(right.text).toMatch(/^access_token=gho_[\w-]+&token_type=bearer&scope=repo%2Cread%3Aorg$/);
});

it("cancel and the other callback errors come back to the registered callback", async () => {
  const { vendor, authorize } = await startHarness();
  expect(await authorize({}, { decision: "cancel" })).toEqual({
    error: "access_denied",
    error_description: "The user has denied your application access.",
    error_uri: expect.stringContaining("#access-denied"),
    state: "s1",
  });
  expect(await authorize({ redirect_uri: "http://127.0.0.1:9/elsewhere" })).toMatchObject({
    error: "redirect_uri_mismatch",
  });
  expect(await authorize({ code_challenge: "x", code_challenge_method: "plain" })).toMatchObject({
    error: "invalid_request",
  });
  const unknown = await request(`${vendor.url}/login/oauth/authorize?client_id=unknown`);
  expect(unknown.status).toBe(404);
});

it("scopes merge with earlier ones, and asking for none again needs no consent page", async () => {
  const { connect, authorize, token } = await startHarness();
  const cookieJar = createCookieJar();
  await connect({ scope: "repo" }, { cookieJar });
  expect(await connect({ scope: "user:email" }, { cookieJar })).toMatchObject({ scope: "repo,user:email" });
  // Were there a page, this would press Cancel.
  const silent = await authorize({ scope: "" }, { cookieJar, decision: "cancel" });
  expect(await token({ code: silent["code"]! })).toMatchObject({ scope: "repo,user:email" });
});

it("expiring tokens: a refresh ends the old pair, and a replay does no harm", async () => {
  const { vendor, connect, token, advance } = await startHarness({ expiringTokens: true });
  const first = await connect();
  expect(first).toMatchObject({ expires_in: 28_800, refresh_token: expect.stringMatching(/^ghr_/) });
  const refresh = { grant_type: "refresh_token", refresh_token: first["refresh_token"] as string };
  const second = await token(refresh);
  expect(vendor.liveTokens()).toEqual([second["access_token"], second["refresh_token"]]);
  expect(await token(refresh)).toMatchObject({ error: "bad_refresh_token" });
  expect(vendor.isLive(second["refresh_token"] as string)).toBe(true);
  advance(28_800);
  expect(vendor.liveTokens()).toEqual([second["refresh_token"]]);
  advance(184 * 86_400);
  expect(await token({ ...refresh, refresh_token: second["refresh_token"] as string })).toMatchObject({
    error: "bad_refresh_token",
  });
});

it("offline_access makes an OAuth app's tokens expire; a GitHub App's always do", async () => {
  const { vendor, connect } = await startHarness();
  expect(await connect({ scope: "repo offline_access" })).toMatchObject({ expires_in: 28_800, scope: "repo" });
  vendor.addClient({ ...CLIENT, kind: "github-app" });
  expect(await connect()).toMatchObject({ access_token: expect.stringMatching(/^ghu_/), expires_in: 28_800 });
});

it("revokes one token with DELETE, Basic and JSON; a token that is gone is 404", async () => {
  const { vendor, connect, remove } = await startHarness({ expiringTokens: true });
  const [one, two] = [await connect(), await connect()];
  const accessToken = one["access_token"] as string;
  expect((await remove("token", accessToken, basic(CLIENT.clientId, "wrong"))).status).toBe(401);
  expect((await remove("token", accessToken, bearer(accessToken) as never)).status).toBe(401);
  expect((await remove("token", "")).status).toBe(422);
  expect(vendor.isLive(accessToken)).toBe(true);
  expect((await remove("token", accessToken)).status).toBe(204);
  expect((await remove("token", accessToken)).status).toBe(404);
  expect(vendor.liveTokens()).toEqual([two["access_token"], two["refresh_token"]]);
  for (const error of vendor.errors.revocation!) {
    vendor.refuseNext("revocation", error);
    expect((await remove("token", two["access_token"] as string)).status).toBe(Number(error));
  }
});

it("revokes a grant with all its tokens and forgets its scopes; other users keep theirs", async () => {
  const { vendor, connect, remove } = await startHarness();
  const [one] = [await connect(), await connect()];
  const other = await connect({}, { account: "operator" });
  expect((await remove("grant", one["access_token"] as string)).status).toBe(204);
  expect(vendor.liveTokens()).toEqual([other["access_token"]]);
  expect(await connect({ scope: "workflow" })).toMatchObject({ scope: "workflow" });
});

it("checks a token: 200 while it lives, 404 afterwards, and not for another app", async () => {
  const { vendor, connect } = await startHarness();
  vendor.addClient({ ...CLIENT, clientId: "other" });
  const accessToken = (await connect())["access_token"] as string;
  const check = async (clientId: string) =>
    (
      await request(`${vendor.url}/applications/${clientId}/token`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...basic(clientId, CLIENT.clientSecret) },
        body: JSON.stringify({ access_token: accessToken }),
      })
    ).status;
  expect([await check(CLIENT.clientId), await check("other")]).toEqual([200, 404]);
  vendor.disconnect("user", CLIENT.clientId);
  expect(await check(CLIENT.clientId)).toBe(404);
  const user = await request(`${vendor.url}/user`, { headers: bearer(accessToken) });
  expect([user.status, user.body["message"]]).toEqual([401, "Bad credentials"]);
  vendor.refuseNext("api", "403");
  expect((await request(`${vendor.url}/user`)).status).toBe(403);
});

it("callbacks: the registered ones, and loopback with any port", async () => {
  const { authorize } = await startHarness({ redirectUris: ["http://127.0.0.1/callback", "http://a.example:9/base"] });
  expect(await authorize({ redirect_uri: "http://127.0.0.1:9/callback" })).toHaveProperty("code");
  expect(await authorize({ redirect_uri: "http://a.example:9/base" })).toHaveProperty("code");
});

it("an install that starts at GitHub calls back without state, and its code works", async () => {
  const { vendor, token } = await startHarness({ kind: "github-app" });
  const callback = await browse(vendor.installUrl(CLIENT.clientId), {});
  expect(Object.keys(callback)).toEqual(["code", "installation_id", "setup_action"]);
  expect(await token({ code: callback["code"]! })).toHaveProperty("access_token");
});

it("metadata: an issuer with a path, resource metadata with the path, no registration", async () => {
  const { vendor } = await startHarness();
  const server = await request(`${vendor.url}/.well-known/oauth-authorization-server/login/oauth`);
  expect(server.body).toMatchObject({ issuer: vendor.endpoints["issuer"], code_challenge_methods_supported: ["S256"] });
  expect(server.body).not.toHaveProperty("registration_endpoint");
  expect((await request(`${vendor.url}/.well-known/oauth-authorization-server`)).status).toBe(404);
  const resource = await request(`${vendor.url}/.well-known/oauth-protected-resource/mcp`);
  expect(resource.body).toMatchObject({
    resource: `${vendor.url}/mcp/`,
    authorization_servers: [server.body["issuer"]],
  });
});
