import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GoogleSimulator } from "./google.ts";
import { startGoogleHarness, type GoogleHarness } from "./testing/google-harness.ts";
import { CALLBACK, getJson, goThrough, pageOf, OTHER_VERIFIER, postJson } from "./testing/http.ts";

let harness: GoogleHarness;
let google: GoogleSimulator;
beforeEach(async () => {
  harness = await startGoogleHarness();
  ({ google } = harness);
});
afterEach(() => google.close());

describe("refusals", () => {
  it.each(["cancel", "cancel-sign-in"] as const)("answers access_denied on %s", async (decision) => {
    expect(await goThrough(harness.authorizeUrl(), { decision })).toEqual({ state: "s1", error: "access_denied" });
  });

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

  it.each([
    ["invalid_grant", { code: "4/none" }, 400],
    ["invalid_grant", { code_verifier: OTHER_VERIFIER }, 400],
    ["invalid_grant", { code_verifier: "" }, 400],
    ["redirect_uri_mismatch", { redirect_uri: "http://127.0.0.1:9/other" }, 400],
    ["invalid_client", { client_secret: "wrong" }, 401],
    ["invalid_client", { client_id: "unknown" }, 401],
    ["invalid_request", { client_secret: "" }, 400],
    ["unsupported_grant_type", { grant_type: "password" }, 400],
  ])("answers %s for %j at the token endpoint, and the code stays good", async (error, form, status) => {
    const { code } = await goThrough(harness.authorizeUrl());
    expect(await harness.redeem(code, form)).toMatchObject({ status, body: { error } });
    expect((await harness.redeem(code)).status).toBe(200);
    expect(await harness.redeem(code)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  it("lets a code expire after ten minutes", async () => {
    const { code } = await goThrough(harness.authorizeUrl());
    harness.now.advance(600);
    expect(await harness.redeem(code)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  it("has every listed token error on demand", async () => {
    const { refresh_token: refreshToken } = await harness.connect();
    for (const name of google.errors.token!) {
      google.refuseNext("token", name);
      const { status, body } = await harness.refresh(refreshToken);
      expect([400, 401]).toContain(status);
      expect(body["error_subtype"] ?? body["error"]).toBe(name);
    }
    expect((await harness.refresh(refreshToken)).status).toBe(200);
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
