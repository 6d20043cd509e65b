import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GoogleSimulator } from "./google.ts";
import { startGoogleHarness, type GoogleHarness } from "./testing/google-harness.ts";
import { CALLBACK, getJson, goThrough, pageOf, postJson } from "./testing/http.ts";

let harness: GoogleHarness;
let google: GoogleSimulator;
beforeEach(async () => {
  harness = await startGoogleHarness();
  ({ google } = harness);
});
afterEach(() => google.close());

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
