import { expect, it, onTestFinished } from "vitest";
import { startLinear } from "../linear.ts";
import { browse, CALLBACK, postForm, postJson, request } from "../testing/http.ts";
import { mcpHarness, PKCE, serveDocument } from "../testing/mcp-harness.ts";
import { AUTH_METHODS } from "../base/registration.ts";

async function start() {
  const harness = await mcpHarness(startLinear);
  return { ...harness, registration: harness.vendor.endpoints["registration_endpoint"]! };
}

it("registers public and confidential clients and answers what it keeps", async () => {
  const { registration } = await start();
  const asked = {
    redirect_uris: [CALLBACK, "https://broker.example/callback"],
    token_endpoint_auth_method: "client_secret_post",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    client_name: "Broker",
    application_type: "web",
  };
  const { status, body, headers } = await postJson(registration, asked);
  const { application_type: _ignored, ...kept } = asked;
  expect(status).toBe(201);
  expect(body).toEqual({
    ...kept,
    client_id: expect.any(String),
    client_id_issued_at: 1_700_000_000,
    client_secret: expect.any(String),
    client_secret_expires_at: 0,
  });
  expect(headers.get("Cache-Control")).toBe("no-store");
  const open = await postJson(registration, { redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" });
  expect(open.body).not.toHaveProperty("client_secret");
  expect(open.body).not.toHaveProperty("client_name");
  const plain = await postJson(registration, { redirect_uris: [CALLBACK] });
  expect(plain.body).toMatchObject({
    token_endpoint_auth_method: "client_secret_basic",
    grant_types: ["authorization_code"],
  });
});

it("refuses registrations that are malformed", async () => {
  const { registration } = await start();
  const error = async (metadata: object) => {
    const answer = await postJson(registration, metadata);
    return [answer.status, answer.body["error"]];
  };
  const uris = (...redirect_uris: unknown[]) => error({ redirect_uris });
  const badUri = [400, "invalid_redirect_uri"];
  expect(await error({})).toEqual(badUri);
  expect(await error({ redirect_uris: CALLBACK })).toEqual(badUri);
  expect(await uris()).toEqual(badUri);
  for (const uri of ["not one", "http://broker.example/", "javascript:alert(1)", `${CALLBACK}#x`, 7]) {
    expect(await uris(CALLBACK, uri)).toEqual(badUri);
  }
  const badMetadata = [400, "invalid_client_metadata"];
  const redirect_uris = [CALLBACK];
  expect(await error({ redirect_uris, token_endpoint_auth_method: "private_key_jwt" })).toEqual(badMetadata);
  expect(await error({ redirect_uris, grant_types: ["password"] })).toEqual(badMetadata);
  expect(await error({ redirect_uris, response_types: ["token"] })).toEqual(badMetadata);
  const text = await request(registration, { method: "POST", body: "redirect_uris" });
  expect([text.status, text.body["error"]]).toEqual(badMetadata);
});

it("a client is held to the method it registered with", async () => {
  const { register, authorize, redeem, post } = await start();
  for (const method of AUTH_METHODS) {
    const client = await register(method);
    const { code = "" } = await authorize(client);
    for (const other of AUTH_METHODS.filter((one) => one !== method)) {
      const refused = await post(client, { grant_type: "authorization_code", code, redirect_uri: CALLBACK }, other);
      expect([refused.status, refused.body["error"]]).toEqual([401, "invalid_client"]);
      expect(refused.headers.get("WWW-Authenticate")).toMatch(/^Basic /);
    }
    expect((await redeem(client, code)).status).toBe(200);
  }
  const confidential = await register("client_secret_post");
  expect((await post({ ...confidential, clientSecret: "wrong" }, { token: "any" })).status).toBe(401);
});

it("a client may be the address of its document, public and with its callbacks from there", async () => {
  const { connect, refresh } = await start();
  const served = await serveDocument((address) => ({
    client_id: address,
    client_name: "Doc",
    redirect_uris: [CALLBACK],
  }));
  onTestFinished(served.close);
  const client = { clientId: served.address, clientSecret: undefined, method: "none" as const };
  const { refresh_token } = await connect(client);
  expect((await refresh(client, refresh_token)).status).toBe(200);
});

it("documents of another address, not public or missing are refused on a page", async () => {
  const { vendor, authorize } = await start();
  const served = await serveDocument((address) => ({ client_id: address, redirect_uris: [CALLBACK] }));
  onTestFinished(served.close);
  const good = served.document.current;
  const client = { clientId: served.address };
  const refused = { cause: { status: 400 } };
  const bad = [
    { ...good, client_id: `${served.address}/other` },
    { ...good, redirect_uris: CALLBACK },
    { ...good, redirect_uris: ["http://broker.example/"] },
    { ...good, token_endpoint_auth_method: "client_secret_post" },
    { ...good, client_secret: "x" },
    { ...good, client_name: "x".repeat(6000) },
    [],
  ];
  for (const document of bad) {
    served.document.current = document;
    await expect(authorize(client)).rejects.toMatchObject(refused);
  }
  served.document.current = good;
  const { origin } = new URL(served.address);
  for (const clientId of [`${origin}/`, `${served.address}?x=1`, `${served.address}#x`, "http://127.0.0.1:9/none"]) {
    await expect(authorize({ clientId })).rejects.toMatchObject(refused);
  }
  const query = { response_type: "code", redirect_uri: "http://127.0.0.1:9/other", state: "s1", ...PKCE };
  const elsewhere = browse(vendor.endpoints["authorization_endpoint"]!, { ...query, client_id: served.address });
  await expect(elsewhere).rejects.toMatchObject(refused);
  const unknown = await postForm(vendor.endpoints["token_endpoint"]!, { client_id: `${origin}/never`, token: "any" });
  expect(unknown.status).toBe(401);
});
