import { expect, it } from "vitest";
import { CLIENT, SECRET, startHarness, type Members, type User } from "./testing/slack-harness.ts";
import { basic, bearer, CALLBACK, CHALLENGE, postForm, request, VERIFIER } from "./testing/http.ts";

it("user pair: the token is nested, without expiry, and says whose it is", async () => {
  const { vendor, user, authorizeUser, redeem } = await startHarness();
  const callback = await authorizeUser({ code_challenge: CHALLENGE, code_challenge_method: "S256", team: "T0SAMPLE2" });
  expect(Object.keys(callback)).toEqual(["code", "state"]);
  const answer = await redeem(user["token_endpoint"]!, { code: callback["code"]!, code_verifier: VERIFIER });
  expect(answer).toEqual({
    ok: true,
    app_id: "A0SAMPLE",
    authed_user: {
      id: "U0SAMPLEUSER",
      scope: "chat:write,users:read",
      access_token: expect.stringMatching(/^xoxp-/),
      token_type: "user",
    },
    team: { id: "T0SAMPLE2", name: "Second workspace" },
    enterprise: null,
    is_enterprise_install: false,
  });
  const token = (answer["authed_user"] as User)["access_token"]!;
  expect(vendor.liveTokens("user")).toEqual([token]);
  const whose = await request(`${vendor.url}/api/auth.test`, { headers: bearer(token) });
  expect(whose.body).toMatchObject({ ok: true, user: "Sample user", team_id: "T0SAMPLE2" });
});

it("bot pair: bot token at the top, user token nested, each only when its scopes were asked", async () => {
  const { connectBot } = await startHarness();
  expect(await connectBot({ scope: "chat:write", user_scope: "users:read" })).toMatchObject({
    access_token: expect.stringMatching(/^xoxb-/),
    token_type: "bot",
    scope: "chat:write",
    bot_user_id: "U0SAMPLEBOT",
    authed_user: { access_token: expect.stringMatching(/^xoxp-/), token_type: "user", scope: "users:read" },
  });
  expect((await connectBot({ scope: "chat:write" }))["authed_user"]).toEqual({ id: "U0SAMPLEUSER" });
  expect(await connectBot({ user_scope: "users:read" })).not.toHaveProperty("access_token");
});

it("scopes: none is refused on a page, commas only", async () => {
  const { user, bot, page } = await startHarness();
  expect(await page(user["authorization_endpoint"]!, {})).toContain("No scopes requested");
  expect(await page(bot["authorization_endpoint"], { scope: "," })).toContain("No scopes requested");
  expect(await page(user["authorization_endpoint"]!, { scope: "chat:write users:read" })).toContain("invalid_scope");
  // The user pair has no second list.
  expect(await page(user["authorization_endpoint"]!, { user_scope: "chat:write" })).toContain("No scopes requested");
});

it("client authentication: in the body at the user pair, Basic as well at the bot pair", async () => {
  const { user, bot, authorizeUser, authorizeBot, redeem } = await startHarness();
  const header = basic(CLIENT.clientId, CLIENT.clientSecret);
  const { code = "" } = await authorizeUser();
  const withBasic = await postForm(user["token_endpoint"]!, { code, redirect_uri: CALLBACK }, header);
  expect([withBasic.status, withBasic.body]).toEqual([200, { ok: false, error: "invalid_client_id" }]);
  const wrong = { ok: false, error: "bad_client_secret" };
  expect(await redeem(user["token_endpoint"]!, { code, client_secret: "wrong" })).toEqual(wrong);
  expect(await redeem(user["token_endpoint"]!, { code, client_secret: "" })).toEqual(wrong);
  const other = (await authorizeBot({ scope: "chat:write" }))["code"]!;
  const accepted = await postForm(bot["token_endpoint"], { code: other, redirect_uri: CALLBACK }, header);
  expect(accepted.body).toMatchObject({ ok: true });
  const unknown = await redeem(user["token_endpoint"]!, { code, client_id: "unknown" });
  expect(unknown).toEqual({ ok: false, error: "invalid_client_id" });
});

it("a code is for its pair, and the callback that was sent comes again", async () => {
  const { user, bot, authorizeUser, redeem } = await startHarness();
  const { code = "" } = await authorizeUser();
  const error = async (members: Members, url = user["token_endpoint"]!) =>
    (await redeem(url, { code, ...members }))["error"];
  expect(await error({ redirect_uri: "" })).toBe("bad_redirect_uri");
  expect(await error({}, bot["token_endpoint"])).toBe("oauth_authorization_url_mismatch");
  expect(await error({})).toBeUndefined();
});

it("rotation: 12 hours, the used refresh token is dead, and bot and user are separate chains", async () => {
  const { vendor, bot, user, connectBot, refresh, advance } = await startHarness({ tokenRotation: true });
  const first = await connectBot({ scope: "chat:write", user_scope: "users:read" });
  const person = first["authed_user"] as User;
  expect(first).toMatchObject({ expires_in: 43_200, refresh_token: expect.stringMatching(/^xoxe-1-/) });
  expect(person).toMatchObject({ expires_in: 43_200, access_token: expect.stringMatching(/^xoxe\.xoxp-/) });
  const used = first["refresh_token"] as string;
  const second = await refresh(used);
  expect(second).toMatchObject({ ok: true, token_type: "bot", scope: "chat:write", expires_in: 43_200 });
  expect(await refresh(used)).toEqual({ ok: false, error: "invalid_refresh_token" });
  expect(vendor.isLive(second["refresh_token"] as string)).toBe(true);
  const userSide = await refresh(person["refresh_token"]!);
  expect(userSide).toMatchObject({ ok: true, token_type: "user", user_id: "U0SAMPLEUSER" });
  expect(await refresh(second["refresh_token"] as string, user["token_endpoint"])).toMatchObject({ ok: false });
  expect(await refresh(userSide["refresh_token"] as string, user["token_endpoint"])).toMatchObject({ ok: true });
  advance(43_200);
  expect(await refresh(second["access_token"] as string)).toEqual({ ok: false, error: "invalid_refresh_token" });
  const expired = await request(`${vendor.url}/api/auth.test`, { headers: bearer(second["access_token"]) });
  expect([expired.status, expired.body["error"]]).toEqual([200, "token_expired"]);
  vendor.disconnect("user", CLIENT.clientId);
  expect(await refresh(second["refresh_token"] as string)).toEqual({ ok: false, error: "token_revoked" });
  expect(bot["refresh_endpoint"]).toBe(user["refresh_endpoint"]);
});

it("revokes with the token itself as Bearer; a test run changes nothing", async () => {
  const { vendor, connectUser, revoke } = await startHarness();
  const token = ((await connectUser())["authed_user"] as User)["access_token"]!;
  const other = ((await connectUser({}, { account: "operator" }))["authed_user"] as User)["access_token"]!;
  expect(await revoke(token, { test: "1" })).toEqual({ ok: true, revoked: false });
  expect(vendor.isLive(token)).toBe(true);
  expect(await revoke(token)).toEqual({ ok: true, revoked: true });
  expect(await revoke(token)).toEqual({ ok: false, error: "token_revoked" });
  expect(await revoke("xoxp-nothing")).toEqual({ ok: false, error: "invalid_auth" });
  expect((await postForm(`${vendor.url}/api/auth.revoke`, {})).body).toEqual({ ok: false, error: "not_authed" });
  expect(vendor.liveTokens()).toEqual([other]);
});

it("errors are 200 with ok:false, too many requests 429 with Retry-After", async () => {
  const { vendor, user, revoke } = await startHarness();
  vendor.refuseNext("token", "ratelimited");
  const answer = await postForm(user["token_endpoint"]!, SECRET);
  expect([answer.status, answer.body]).toEqual([429, { ok: false, error: "ratelimited" }]);
  expect(answer.headers.get("Retry-After")).toBe("30");
  for (const error of vendor.errors.revocation!) {
    vendor.refuseNext("revocation", error);
    expect(await revoke("any")).toEqual({ ok: false, error });
  }
});

it("cancel comes back as access_denied; unknown apps and callbacks stay on a page", async () => {
  const { user, authorizeUser, page } = await startHarness();
  expect(await authorizeUser({}, { decision: "cancel" })).toEqual({ error: "access_denied", state: "s1" });
  const at = user["authorization_endpoint"]!;
  expect(await page(at, { client_id: "unknown" })).toContain("invalid_client_id");
  for (const redirect_uri of ["http://127.0.0.1:9/", `${CALLBACK}x`, "http://127.0.0.1:9/callback/../x"]) {
    expect(await page(at, { scope: "chat:write", redirect_uri })).toContain("bad_redirect_uri");
  }
  expect(await authorizeUser({ redirect_uri: `${CALLBACK}/below` })).toHaveProperty("code");
});

it("waiting for an administrator: a page and no callback, until approved and started again", async () => {
  const { vendor, authorizeUser } = await startHarness();
  vendor.requireApproval(true);
  await expect(authorizeUser()).rejects.toMatchObject({
    cause: { status: 200, body: expect.stringContaining("An administrator has to approve Broker first") },
  });
  vendor.approve(CLIENT.clientId);
  expect(await authorizeUser()).toHaveProperty("code");
});

it("metadata: post only, S256, resource metadata at the root only, no registration", async () => {
  const { vendor } = await startHarness();
  const { body } = await request(`${vendor.url}/.well-known/oauth-authorization-server`);
  expect(body).toMatchObject({ issuer: vendor.url, token_endpoint_auth_methods_supported: ["client_secret_post"] });
  expect(body).not.toHaveProperty("registration_endpoint");
  const status = async (path: string) =>
    (await request(`${vendor.url}/.well-known/oauth-protected-resource${path}`)).status;
  expect([await status(""), await status("/mcp")]).toEqual([200, 404]);
});

it("a call without its scope names it inside a 200", async () => {
  const { vendor, connectUser } = await startHarness();
  const post = async (scope?: string) => {
    const { authed_user: person } = await connectUser(scope === undefined ? {} : { scope });
    const headers = bearer((person as User)["access_token"]);
    return postForm(`${vendor.url}/api/chat.postMessage`, { channel: "C1", text: "hello" }, headers);
  };
  expect((await post()).body).toMatchObject({ ok: true, channel: "C1", message: { text: "hello" } });
  expect(await post("users:read")).toMatchObject({
    status: 200,
    body: { ok: false, error: "missing_scope", needed: "chat:write", provided: "users:read" },
  });
});
