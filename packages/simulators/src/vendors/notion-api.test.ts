import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { expect, it, onTestFinished } from "vitest";
import type { NotionClient } from "./notion-api.ts";
import { startNotion } from "./notion.ts";
import { basic, bearer, browse, CALLBACK, postForm, postJson, request, type Browse } from "./testing/http.ts";

const CLIENT = { clientId: "notion-app", clientSecret: "secret_notion", redirectUris: [CALLBACK], name: "Broker" };
const BASIC = basic(CLIENT.clientId, CLIENT.clientSecret);
const VERSION = { "Notion-Version": "2025-09-03" };

async function start(client: Partial<NotionClient> = {}) {
  const now = fixedClock(1_700_000_000);
  const vendor = await startNotion({ now });
  onTestFinished(vendor.close);
  vendor.addClient({ ...CLIENT, ...client });
  const at = (name: string) => vendor.apiEndpoints[`${name}_endpoint`]!;
  const query = {
    client_id: CLIENT.clientId,
    redirect_uri: CALLBACK,
    response_type: "code",
    owner: "user",
    state: "s1",
  };
  const authorize = (more: Record<string, string> = {}, options: Browse = {}) =>
    browse(at("authorization"), { ...query, ...more }, options);
  const token = (members: object, headers: Record<string, string> = BASIC) => postJson(at("token"), members, headers);
  const redeem = (code: string) => token({ grant_type: "authorization_code", code, redirect_uri: CALLBACK });
  const connect = async () => {
    const { body } = await redeem((await authorize())["code"]!);
    return body as { readonly access_token: string; readonly refresh_token: string };
  };
  const refresh = (refresh_token: string) => token({ grant_type: "refresh_token", refresh_token });
  const call = (name: string, members: object, headers: Record<string, string> = { ...BASIC, ...VERSION }) =>
    postJson(at(name), members, headers);
  return { vendor, at, authorize, token, redeem, connect, refresh, call, advance: now.advance };
}

it("connects with Basic and JSON; the answer says whose workspace it is", async () => {
  const { vendor, at, authorize, redeem } = await start();
  const callback = await authorize();
  expect(Object.keys(callback)).toEqual(["code", "state"]);
  const { status, body } = await redeem(callback["code"]!);
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.stringMatching(/^ntn_/),
    token_type: "bearer",
    refresh_token: expect.stringMatching(/^nrt_/),
    bot_id: expect.any(String),
    workspace_id: expect.any(String),
    workspace_name: "Sample workspace",
    workspace_icon: null,
    owner: expect.objectContaining({ type: "user", user: expect.objectContaining({ name: "Sample user" }) }),
    duplicated_template_id: null,
    request_id: expect.any(String),
  });
  expect(body).not.toHaveProperty("expires_in");
  const token = body["access_token"] as string;
  const me = await request(at("userinfo"), { headers: { ...bearer(token), ...VERSION } });
  expect(me.body).toMatchObject({ object: "user", type: "bot" });
  expect(vendor.liveTokens("user")).toEqual([body["refresh_token"], token]);
});

it("the refresh token can be null", async () => {
  const { connect, vendor } = await start({ refreshTokens: false });
  expect(await connect()).toMatchObject({ refresh_token: null });
  expect(vendor.liveTokens()).toHaveLength(1);
});

it("refresh gives a new pair and ends the old one; a replay is invalid_grant and harms nothing", async () => {
  const { vendor, connect, refresh } = await start();
  const first = await connect();
  const second = (await refresh(first.refresh_token)).body;
  expect(vendor.isLive(first.access_token)).toBe(false);
  const replay = await refresh(first.refresh_token);
  expect([replay.status, replay.body["error"]]).toEqual([400, "invalid_grant"]);
  expect(vendor.liveTokens()).toEqual([second["refresh_token"], second["access_token"]]);
  expect((await refresh(second["access_token"] as string)).body["error"]).toBe("invalid_grant");
});

it("the token call wants Basic, JSON, a code once and in time, and the same callback", async () => {
  const { vendor, at, authorize, token, redeem, advance } = await start();
  vendor.addClient({ ...CLIENT, clientId: "other" });
  const { code = "" } = await authorize();
  const members = { grant_type: "authorization_code", code, redirect_uri: CALLBACK };
  const error = async (more: object, headers?: Record<string, string>) =>
    (await token({ ...members, ...more }, headers)).body["error"];
  expect(await error({ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret }, {})).toBe("invalid_client");
  expect(await error({}, basic(CLIENT.clientId, "wrong"))).toBe("invalid_client");
  expect((await postForm(at("token"), members, BASIC)).body["error"]).toBe("invalid_request");
  expect(await error({}, basic("other", CLIENT.clientSecret))).toBe("invalid_grant");
  expect(await error({ redirect_uri: `${CALLBACK}/x` })).toBe("invalid_grant");
  expect(await error({ grant_type: "password" })).toBe("unsupported_grant_type");
  expect((await redeem(code)).status).toBe(200);
  expect(await error({})).toBe("invalid_grant");
  const late = (await authorize())["code"]!;
  advance(600);
  expect((await redeem(late)).body["error"]).toBe("invalid_grant");
});

it("revokes with Basic, JSON and the version header; introspection knows the difference", async () => {
  const { vendor, connect, call } = await start();
  const { access_token: token } = await connect();
  const code = async (name: string, members: object, headers?: Record<string, string>) => {
    const { status, body } = await call(name, members, headers);
    return [status, body["object"], body["code"]];
  };
  expect(await code("revocation", { token }, VERSION)).toEqual([401, "error", "unauthorized"]);
  expect(await code("revocation", { token }, BASIC)).toEqual([400, "error", "missing_version"]);
  expect(await code("revocation", {})).toEqual([400, "error", "validation_error"]);
  const live = await call("introspection", { token });
  expect(live.body).toEqual({ active: true, scope: "", iat: 1_700_000_000, request_id: expect.any(String) });
  const done = await call("revocation", { token });
  expect([done.status, Object.keys(done.body)]).toEqual([200, ["request_id"]]);
  expect(await code("revocation", { token })).toEqual([400, "error", "validation_error"]);
  expect((await call("introspection", { token })).body).toMatchObject({ active: false });
  expect(vendor.liveTokens()).toEqual([]);
});

it("API calls answer error objects", async () => {
  const { vendor, at, connect } = await start();
  const { access_token } = await connect();
  const me = async (headers: Record<string, string>) => {
    const { status, body } = await request(at("userinfo"), { headers });
    return [status, body["code"]];
  };
  expect(await me(bearer(access_token))).toEqual([400, "missing_version"]);
  expect(await me({ ...VERSION, ...bearer("ntn_none") })).toEqual([401, "unauthorized"]);
  vendor.disconnect("user", CLIENT.clientId);
  expect(await me({ ...VERSION, ...bearer(access_token) })).toEqual([401, "unauthorized"]);
  for (const error of ["restricted_resource", "rate_limited", "validation_error", "unauthorized", "missing_version"]) {
    vendor.refuseNext("api", error);
    expect((await me(VERSION))[1]).toBe(error);
  }
});

it("cancel is access_denied; owner=user is asked; unknown apps stay on a page", async () => {
  const { vendor, authorize, token } = await start();
  expect(await authorize({}, { decision: "cancel" })).toEqual({ error: "access_denied", state: "s1" });
  expect(await authorize({ owner: "" })).toEqual({ error: "invalid_request", state: "s1" });
  vendor.refuseNext("authorization", "server_error");
  expect(await authorize()).toEqual({ error: "server_error", state: "s1" });
  await expect(authorize({ client_id: "unknown" })).rejects.toMatchObject({ cause: { status: 400 } });
  await expect(authorize({ redirect_uri: `${CALLBACK}/x` })).rejects.toMatchObject({ cause: { status: 400 } });
  vendor.refuseNext("token", "temporarily_unavailable");
  expect((await token({})).status).toBe(503);
});
