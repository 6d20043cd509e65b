import { expect, it } from "vitest";
import { startNotion } from "./notion.ts";
import { bearer, request, VERIFIER } from "./testing/http.ts";
import { mcpHarness } from "./testing/mcp-harness.ts";

const start = () => mcpHarness(startNotion);

it("connects; the resource is the bare origin, not /mcp, and no iss comes back", async () => {
  const { vendor, register, authorize, redeem } = await start();
  const { headers } = await request(`${vendor.url}/mcp`);
  const named = /resource_metadata="([^"]+)"/.exec(headers.get("WWW-Authenticate") ?? "")?.[1] ?? "";
  expect(named).toBe(`${vendor.url}/.well-known/oauth-protected-resource`);
  const { body } = await request(named);
  expect(body).toMatchObject({ resource: vendor.url, authorization_servers: [vendor.url] });
  expect((await request(`${named}/mcp`)).status).toBe(404);

  const client = await register();
  expect(await authorize(client, { resource: `${vendor.url}/mcp` })).toMatchObject({ error: "invalid_target" });
  for (const resource of [vendor.url, `${vendor.url}/`]) {
    const callback = await authorize(client, { resource });
    expect(Object.keys(callback)).toEqual(["code", "state"]);
    const tokens = await redeem(client, callback["code"]!);
    expect(tokens.body).toMatchObject({ scope: "default", expires_in: 3600 });
    const used = await request(`${vendor.url}/mcp`, { headers: bearer(tokens.body["access_token"]) });
    expect(used.status).toBe(200);
  }
});

it("takes plain as well as S256, named or not", async () => {
  const { register, authorize, redeem } = await start();
  const client = await register();
  for (const code_challenge_method of ["plain", ""]) {
    const { code = "" } = await authorize(client, { code_challenge: VERIFIER, code_challenge_method });
    expect((await redeem(client, code, { code_verifier: "a".repeat(43) })).body["error"]).toBe("invalid_grant");
    expect((await redeem(client, code)).status).toBe(200);
  }
});

it("a used refresh token is dead at once; cancel is access_denied", async () => {
  const { register, connect, refresh, authorize } = await start();
  const client = await register();
  const first = await connect(client);
  expect((await refresh(client, first.refresh_token)).status).toBe(200);
  expect((await refresh(client, first.refresh_token)).body["error"]).toBe("invalid_grant");
  expect(await authorize(client, {}, { decision: "cancel" })).toEqual({ error: "access_denied", state: "s1" });
});

it("introspection tells a client about its own tokens, revocation is on the token address", async () => {
  const { vendor, register, connect, post, revoke, advance } = await start();
  const [client, other] = [await register("client_secret_basic"), await register()];
  const { access_token, refresh_token } = await connect(client);
  const { body } = await request(`${vendor.url}/.well-known/oauth-authorization-server`);
  expect(body).toMatchObject({
    revocation_endpoint: `${vendor.url}/token`,
    introspection_endpoint: `${vendor.url}/introspect`,
    code_challenge_methods_supported: ["plain", "S256"],
  });
  const introspect = async (as: typeof client, token: string, method = as.method) =>
    (await post(as, { token }, method, `${vendor.url}/introspect`)).body;
  expect(await introspect(client, access_token)).toEqual({
    active: true,
    client_id: client.clientId,
    sub: "user",
    scope: "default",
    iat: 1_700_000_000,
    exp: 1_700_003_600,
  });
  expect(await introspect(client, refresh_token)).toMatchObject({ active: true });
  expect(await introspect(other, access_token)).toEqual({ active: false });
  expect(await introspect(client, access_token, "none")).toEqual({ error: "invalid_client" });
  advance(3600);
  expect(await introspect(client, access_token)).toEqual({ active: false });
  expect((await revoke(client, refresh_token)).status).toBe(200);
  expect(await introspect(client, refresh_token)).toEqual({ active: false });
});
