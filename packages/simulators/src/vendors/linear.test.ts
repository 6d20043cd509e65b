import { expect, it } from "vitest";
import { startLinear } from "./linear.ts";
import { bearer, CALLBACK, request } from "./testing/http.ts";
import { mcpHarness } from "./testing/mcp-harness.ts";

const start = () => mcpHarness(startLinear);

it("connects a registered client: iss and state on the callback, a day's token", async () => {
  const { vendor, register, authorize, redeem } = await start();
  const client = await register();
  const callback = await authorize(client, { resource: `${vendor.url}/mcp`, scope: "read" });
  expect(callback).toEqual({ code: expect.any(String), state: "s1", iss: vendor.endpoints["issuer"] });
  const answer = await redeem(client, callback["code"]!);
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
  expect(answer.body).toEqual({
    access_token: expect.any(String),
    token_type: "bearer",
    expires_in: 86_400,
    refresh_token: expect.any(String),
    scope: "read",
  });
  const used = await request(`${vendor.url}/mcp`, { headers: bearer(answer.body["access_token"]) });
  expect(used.body).toEqual({ user: "user", scope: "read" });
});

it("the MCP server's 401 leads to the metadata, at the root and with the path", async () => {
  const { vendor } = await start();
  const { status, headers } = await request(`${vendor.url}/mcp`, { method: "POST" });
  expect(status).toBe(401);
  const named = /resource_metadata="([^"]+)"/.exec(headers.get("WWW-Authenticate") ?? "")?.[1] ?? "";
  const resource = await request(named);
  expect(resource.body).toMatchObject({ resource: `${vendor.url}/mcp`, authorization_servers: [vendor.url] });
  const root = await request(`${vendor.url}/.well-known/oauth-protected-resource`);
  expect(root.body).toEqual(resource.body);
  const twin = await request(`${vendor.url}/.well-known/oauth-protected-resource/mcp/readonly`);
  expect(twin.body).toMatchObject({ resource: `${vendor.url}/mcp/readonly`, scopes_supported: ["read"] });
  const { body } = await request(`${vendor.url}/.well-known/oauth-authorization-server`);
  expect(body).toMatchObject({
    issuer: vendor.url,
    revocation_endpoint: body["token_endpoint"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    code_challenge_methods_supported: ["S256"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  });
  expect(body).not.toHaveProperty("introspection_endpoint");
});

it("refresh: for 30 minutes a used refresh token answers the same pair, then it is refused", async () => {
  const { vendor, register, connect, refresh, advance } = await start();
  const client = await register("client_secret_post");
  const first = await connect(client);
  const { body: second } = await refresh(client, first.refresh_token);
  expect(second["refresh_token"]).not.toBe(first.refresh_token);
  advance(1799);
  expect((await refresh(client, first.refresh_token)).body).toEqual({ ...second, expires_in: 86_400 - 1799 });
  advance(1);
  const late = await refresh(client, first.refresh_token);
  expect([late.status, late.body["error"]]).toEqual([400, "invalid_grant"]);
  expect(vendor.isLive(second["refresh_token"] as string)).toBe(true);
  expect((await refresh(client, first.access_token)).body["error"]).toBe("invalid_grant");
  const other = await register();
  expect((await refresh(other, second["refresh_token"] as string)).body["error"]).toBe("invalid_grant");
});

it("a second use of a code ends its tokens", async () => {
  const { vendor, register, authorize, redeem } = await start();
  const client = await register();
  const { code = "" } = await authorize(client);
  expect((await redeem(client, code, { grant_type: "" })).body["error"]).toBe("invalid_request");
  expect((await redeem(client, code)).status).toBe(200);
  expect(vendor.liveTokens()).toHaveLength(2);
  expect((await redeem(client, code)).body["error"]).toBe("invalid_grant");
  expect(vendor.liveTokens()).toEqual([]);
});

it("revokes a refresh token with its grant, an access token alone", async () => {
  const { vendor, register, connect, revoke, post } = await start();
  const [client, other] = [await register("client_secret_basic"), await register()];
  const one = await connect(client);
  expect((await post(client, { token: one.access_token }, "none")).status).toBe(401);
  expect((await revoke(other, one.refresh_token)).status).toBe(200);
  expect(vendor.liveTokens()).toEqual([one.access_token, one.refresh_token]);
  expect((await revoke(client, one.access_token)).status).toBe(200);
  expect(vendor.liveTokens()).toEqual([one.refresh_token]);
  const two = await connect(client);
  const answer = await revoke(client, two.refresh_token);
  expect([answer.status, answer.text]).toEqual([200, ""]);
  expect((await revoke(client, two.refresh_token)).status).toBe(200);
  expect((await revoke(client, "never a token")).status).toBe(200);
  expect(vendor.liveTokens()).toEqual([one.refresh_token]);
});

it("errors go to the client with state and iss; unknown ones stay on a page", async () => {
  const { vendor, register, authorize } = await start();
  const client = await register();
  const fails = (more: Record<string, string>) => authorize(client, more);
  const back = (error: string) => ({ error, state: "s1", iss: vendor.url });
  expect(await authorize(client, {}, { decision: "cancel" })).toEqual(back("access_denied"));
  expect(await fails({ response_type: "token" })).toEqual(back("unsupported_response_type"));
  expect(await fails({ code_challenge: "" })).toEqual(back("invalid_request"));
  expect(await fails({ code_challenge_method: "" })).toEqual(back("invalid_request"));
  expect(await fails({ code_challenge_method: "plain" })).toEqual(back("invalid_request"));
  expect(await fails({ scope: "read admin" })).toEqual(back("invalid_scope"));
  expect(await fails({ resource: "https://elsewhere.example" })).toEqual(back("invalid_target"));
  for (const error of vendor.errors.authorization!) {
    vendor.refuseNext("authorization", error);
    expect(await fails({})).toEqual(back(error));
  }
  for (const redirect_uri of [`${CALLBACK}/x`, "https://elsewhere.example/", ""]) {
    await expect(fails({ redirect_uri })).rejects.toMatchObject({ cause: { status: 400 } });
  }
  await expect(authorize({ clientId: "unknown" })).rejects.toMatchObject({ cause: { status: 400 } });
});

it("every error of the token, revocation and registration endpoints can be caused", async () => {
  const { vendor, register, post, revoke } = await start();
  const client = await register();
  const odd: Record<string, number> = {
    invalid_client: 401,
    too_many_requests: 429,
    server_error: 500,
    temporarily_unavailable: 503,
  };
  for (const error of vendor.errors.token!) {
    vendor.refuseNext("token", error);
    const answer = await post(client, { grant_type: "refresh_token" });
    expect([answer.status, answer.body]).toEqual([odd[error] ?? 400, { error }]);
  }
  for (const error of vendor.errors.revocation!) {
    vendor.refuseNext("revocation", error);
    expect((await revoke(client, "any")).status).toBe(odd[error] ?? 400);
  }
  for (const error of vendor.errors.registration!) {
    vendor.refuseNext("registration", error);
    const answer = await request(vendor.endpoints["registration_endpoint"]!, { method: "POST", body: "{}" });
    expect([answer.status, answer.body]).toEqual([odd[error] ?? 400, { error }]);
  }
  vendor.refuseNext("api", "invalid_token");
  expect((await request(`${vendor.url}/mcp`)).status).toBe(401);
});
