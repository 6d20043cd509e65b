/** Refresh, revoke and explain: the origin of a token decides where it is sent. */
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { REFLECTED } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { besideTokens, ISSUER, lose, rotatingTokens, testBroker, testVendor, WAYS } from "../testing/test-broker.ts";
import { openConnection, sealConnection } from "../grants/connection.ts";

const REVOCABLE = testVendor({ revocationEndpoint: "https://acme.example/revoke" });

const REJECTED = { error: "vendor_credentials_rejected", credentials_source: "shared" };
const page = (): Response => new Response("<html>r3flect");
const refusal = (error: string, status = 400): Response =>
  Response.json({ error, error_description: "r3flect" }, { status });

async function connected(options: Parameters<typeof testBroker>[0] = {}) {
  const broker = await testBroker({ vendorAnswers: rotatingTokens(), ...options });
  const { connection } = await broker.connect();
  const refresh = (form: Record<string, string>, clientId?: string) =>
    broker.refresh({ refresh_token: "rt-1", ...form }, clientId);
  return { ...broker, connection, refresh };
}

describe.each(["/v1/token", "/v1/revoke"])("bar#RF-7 bar#RV-3 what %s refuses as the origin of a token", (path) => {
  const GOOD = { grant_type: "refresh_token", refresh_token: "rt-1", token: "at" };

  it.each<[string, Record<string, string>, string]>([
    ["neither connection nor vendor", { connection: "" }, "invalid_request"],
    ["an invalid connection", { connection: REFLECTED }, "invalid_request"],
    ["a connection of another key", { connection: "a.r3flect" }, "invalid_request"],
    ["a connection without a key", { connection: ".r3flect" }, "invalid_request"],
    ["a vendor that contradicts the connection", { vendor: "another" }, "invalid_request"],
    ["an unknown vendor", { connection: "", vendor: REFLECTED }, "invalid_request"],
    ["a vendor this client may not use", { connection: "", vendor: "another" }, "unauthorized_client"],
    ["credentials of the caller's own", { vendor_client_id: "r3flect" }, "invalid_request"],
    ["a secret without its id", { vendor_client_secret: "r3flect" }, "invalid_request"],
    ["an endpoint", { token_endpoint: "https://r3flect.example" }, "unauthorized_client"],
    ["an issuer", { issuer: "https://r3flect.example" }, "unauthorized_client"],
    ["no token", { refresh_token: "", token: "" }, "invalid_request"],
  ])("%s", async (_, form, error) => {
    const { post, connection, seen } = await connected({
      config: { vendors: new Map(["acme", "another"].map((id) => [id, REVOCABLE])) },
      client: { vendors: ["acme"], allowOverrides: false },
    });
    const { response, body } = await post(path, { ...GOOD, connection, ...form });
    expect([response.status, body["error"]]).toEqual([400, error]);
    expect(seen).toHaveLength(1);
  });

  it("not the vendor's own endpoints, beside the connection that was made with them", async () => {
    const { post, connection } = await connected({ config: { vendors: new Map([["acme", REVOCABLE]]) } });
    const { tokenEndpoint = "", authorizationEndpoint = "" } = REVOCABLE.vendor;
    const own = { token_endpoint: tokenEndpoint, authorization_endpoint: authorizationEndpoint };
    const { response, body } = await post(path, { ...GOOD, connection, ...own });
    expect([response.status, body["error"]]).toEqual([200, undefined]);
  });

  it("a connection altered anywhere, cut, longer, or another client's", async () => {
    const { post, connection, seen } = await connected({ config: { vendors: new Map([["acme", REVOCABLE]]) } });
    const altered = [0, connection.indexOf(".") + 1, connection.length >> 1, connection.length - 2].map(
      (at) => connection.slice(0, at) + (connection[at] === "A" ? "B" : "A") + connection.slice(at + 1),
    );
    for (const wrong of [...altered, connection.slice(0, -1), `${connection}A`, connection.toUpperCase()]) {
      expect((await post(path, { ...GOOD, connection: wrong })).body["error"]).toBe("invalid_request");
    }
    expect((await post(path, { ...GOOD, connection }, "other")).body["error"]).toBe("invalid_request");
    expect(seen).toHaveLength(1);
  });
});

describe("refresh", () => {
  it("repeats what the vendor wants of the callback, for the connection that it came with", async () => {
    const bodies: string[] = [];
    const names = { callbackParams: ["device_id"], refreshCallbackParams: ["device_id"] };
    const broker = await testBroker({
      config: { vendors: new Map([["acme", testVendor(names)]]) },
      vendorAnswers: async (input, init) => {
        bodies.push(await new Request(input, init).text());
        return Response.json({ access_token: `at-${bodies.length}`, token_type: "bearer", refresh_token: "rt-1" });
      },
    });
    const connected = [await broker.connect({}, { device_id: "d1" }), await broker.connect({}, { device_id: "d2" })];
    for (const [at, { connection }] of connected.entries()) {
      expect((await broker.refresh({ refresh_token: `rt-of-${at}`, connection })).response.status).toBe(200);
    }
    const sent = bodies.slice(-2).map((text) => new URLSearchParams(text).getAll("device_id"));
    expect(sent).toEqual([["d1"], ["d2"]]);
  });

  it("rfc6749#6 answers new tokens, and keeps the old refresh token when no new one comes", async () => {
    let calls = 0;
    const vendorAnswers = async () => Response.json({ access_token: `at-${++calls}`, token_type: "bearer" });
    const { refresh, connection } = await connected({ vendorAnswers });
    const { body } = await refresh({ connection });
    const kept = { access_token: "at-2", refresh_token: "rt-1", vendor: "acme", connection: expect.any(String) };
    expect(body).toMatchObject(kept);
    const next = { connection: String(body["connection"]), refresh_token: "rt-9" };
    expect((await refresh(next)).response.status).toBe(200);
  });

  it("returns a connection under the newest key once it signs, and the old one until then", async () => {
    const { refresh, connection, deps, now } = await connected();
    expect((await refresh({ connection })).body["connection"]).toBe(connection);
    await deps.keyset.rotate();
    now.advance(60);
    const { body } = await refresh({ connection, refresh_token: "rt-2" });
    expect(body["connection"]).not.toBe(connection);
    const next = { connection: String(body["connection"]), refresh_token: "rt-3" };
    expect((await refresh(next)).response.status).toBe(200);
  });

  it("bar#RF-1 makes one vendor call for 100 equal requests, and replays it for 60 s", async () => {
    const { refresh, connection, seen, now } = await connected();
    const answers = await Promise.all(Array.from({ length: 100 }, () => refresh({ connection })));
    expect(new Set(answers.map(({ body }) => body["access_token"]))).toEqual(new Set(["at-2"]));
    now.advance(59);
    expect((await refresh({ connection })).body["access_token"]).toBe("at-2");
    expect(seen).toHaveLength(2);
    now.advance(1);
    expect((await refresh({ connection })).body["access_token"]).toBe("at-3");
  });

  it("rfc6749#3.3 bar#RF-1 calls separately for each client of one token, and for another scope", async () => {
    const { refresh } = await connected();
    expect((await refresh({ vendor: "acme" })).body["access_token"]).toBe("at-2");
    expect((await refresh({ vendor: "acme" }, "other")).body["access_token"]).toBe("at-3");
    for (const scope of ["read write", "write read", " read write  read"])
      expect((await refresh({ vendor: "acme", scope })).body["access_token"]).toBe("at-4");
  });

  it("bar#RF-6 compares the subject for each caller of one vendor call", async () => {
    const { refresh, connection, deps } = await connected();
    const first = { ...(await openConnection(connection, "platform", deps)), iss: "https://acme.example", sub: "user" };
    const idToken = { raw: "", issuer: first.iss, subject: "another" };
    const answer = { accessToken: "at", tokenType: "Bearer", vendorData: {}, idToken };
    Object.assign(deps.vendorClient, { refreshTokens: async () => answer } satisfies Partial<VendorClient>);
    expect((await refresh({ vendor: "acme" })).response.status).toBe(200);
    expect((await refresh({ connection: sealConnection(first, "platform", deps) })).body).toMatchObject({
      error: "vendor_response_invalid",
      reason: "subject_mismatch",
    });
  });

  it("takes the vendor in place of a connection", async () => {
    const { refresh } = await connected();
    const { body } = await refresh({ vendor: "acme" });
    expect(body).toMatchObject({ access_token: "at-2", connection: expect.any(String) });
  });

  it.each<[string, boolean, () => Response, number, Record<string, string>]>([
    ["a lost answer where it rotates", true, lose, 503, { error: "temporarily_unavailable", retry: "restart" }],
    ["a lost answer where it may not", false, lose, 503, { error: "temporarily_unavailable" }],
    ["an outage", true, () => new Response("r3flect", { status: 503 }), 503, { error: "temporarily_unavailable" }],
    ["a page where it rotates", true, page, 502, { error: "vendor_response_invalid", retry: "restart" }],
    ["a page where it may not", false, page, 502, { error: "vendor_response_invalid" }],
    ["a dead token", true, () => refusal("invalid_grant"), 400, { error: "invalid_grant" }],
    ["a refused scope", true, () => refusal("invalid_scope"), 400, { error: "invalid_scope" }],
    ["refused credentials", true, () => refusal("invalid_client", 401), 400, REJECTED],
  ])("answers %s of the vendor by its own code", async (_, rotatesRefreshTokens, answer, status, members) => {
    const { refresh } = await testBroker({ vendor: { rotatesRefreshTokens }, vendorAnswers: async () => answer() });
    const { response, body } = await refresh({ vendor: "acme" });
    const { error_description: _text, vendor_error: _code, ...rest } = body;
    expect([response.status, rest]).toEqual([status, members]);
  });

  it("bar#BY-4 sends a token to no host but the vendor's when it was issued", async () => {
    const vendors = new Map([["acme", testVendor()]]);
    const { refresh, post, connection, seen } = await connected({ config: { vendors } });
    vendors.set("acme", testVendor({ tokenEndpoint: "https://evil.example/token" }));
    const moved = { error: "invalid_grant", reason: "connection_endpoint_changed" };
    expect((await refresh({ connection })).body).toMatchObject(moved);
    vendors.set("acme", testVendor({ refreshEndpoint: "https://evil.example/refresh" }));
    expect((await refresh({ connection })).body).toMatchObject(moved);
    vendors.set("acme", testVendor({ revocationEndpoint: "https://evil.example/revoke" }));
    expect((await post("/v1/revoke", { token: "at", connection })).body).toMatchObject(moved);
    expect(seen).toHaveLength(1);
  });

  it("uses the credentials that minted the token, and says when they are gone", async () => {
    const entry = testVendor();
    const vendors = new Map([["acme", entry]]);
    const { refresh, connection, seen } = await connected({ config: { vendors } });
    const [old] = entry.credentials;
    const next = { id: "2027", source: "shared" as const, clientId: "next" };
    vendors.set("acme", { ...entry, credentials: old === undefined ? [next] : [next, old] });
    expect((await refresh({ connection })).response.status).toBe(200);
    expect(seen).toHaveLength(2);
    for (const others of [next, { ...next, id: old?.id ?? "" }]) {
      vendors.set("acme", { ...entry, credentials: [others] });
      expect((await refresh({ connection, refresh_token: "rt-2" })).body).toMatchObject(REJECTED);
    }
    expect(seen).toHaveLength(2);
  });

  it("refuses another grant type by its name", async () => {
    const { post } = await testBroker();
    expect((await post("/v1/token", { grant_type: "password" })).body["error"]).toBe("unsupported_grant_type");
    expect((await post("/v1/token", {})).body["error"]).toBe("invalid_request");
  });
});

describe("revoke", () => {
  it("rfc7009#2.1 calls the vendor and reports what was revoked; an unknown hint is ignored", async () => {
    const vendor = { revocationEndpoint: "https://acme.example/revoke" };
    const { post, connection, seen } = await connected({ vendor });
    const { response, body } = await post("/v1/revoke", { token: "at", token_type_hint: "id_token", connection });
    expect([response.status, body]).toEqual([200, { revoked: "token" }]);
    expect(Object.fromEntries(seen.at(-1)?.form ?? [])).toEqual({ token: "at" });
    await post("/v1/revoke", { token: "at", token_type_hint: "refresh_token", connection });
    expect(Object.fromEntries(seen.at(-1)?.form ?? [])).toEqual({ token: "at", token_type_hint: "refresh_token" });
  });

  it.each(["rt-1", "rt-2", "at-2"])(
    "bar#RV-4 %s of a refresh: what the vendor answered is not replayed",
    async (token) => {
      const tokens = rotatingTokens();
      const { refresh, post, connection, seen } = await connected({
        vendor: WAYS,
        vendorAnswers: async (input, init) => besideTokens(input) ?? tokens(input, init),
      });
      expect((await refresh({ connection })).body).toMatchObject({ access_token: "at-2", refresh_token: "rt-2" });
      expect((await post("/v1/revoke", { token, connection })).body).toEqual({ revoked: "token" });
      const { response, body } = await refresh({ connection });
      expect([response.status, body["error"]]).toEqual([400, "invalid_grant"]);
      // A vendor may no longer know the token before, so the one that it was spent for is revoked too.
      const revoked = seen.filter(({ url }) => url === WAYS.revocationEndpoint).map(({ form }) => form.get("token"));
      expect(revoked).toEqual(token === "rt-1" ? ["rt-1", "rt-2"] : [token]);
    },
  );

  it("bar#RV-2 reports a token that the vendor does not know as already revoked", async () => {
    const config = { vendors: new Map([["acme", REVOCABLE]]) };
    const { post } = await testBroker({ config, vendorAnswers: async () => refusal("invalid_token") });
    expect((await post("/v1/revoke", { token: "at", vendor: "acme" })).body).toEqual({ revoked: "already" });
  });

  it("says what the user can do where the vendor cannot revoke", async () => {
    const { post, connection } = await connected();
    const { response, body } = await post("/v1/revoke", { token: "at", connection });
    expect(response.status).toBe(400);
    expect(body).toMatchObject({ error: "unsupported_token_type", help: expect.stringContaining("remove") });
    expect((await post("/v1/revoke", { connection })).body["error"]).toBe("invalid_request");
  });
});

describe("explain", () => {
  it("shows endpoints and parameter sources, hides secrets, stores and sends nothing", async () => {
    const { post, seen } = await testBroker({ vendor: { authorizationParams: { access_type: "offline" } } });
    const asked = { scope: "write", prompt: "consent", vendor_params: '{"audience":"api"}' };
    const { response, body } = await post("/v1/explain", { vendor: "acme", ...asked });
    expect(response.status).toBe(200);
    expect(body).toMatchObject({
      vendor: "acme",
      tier: 1,
      redirect_uri: `${ISSUER}/v1/callback`,
      endpoints: { token_endpoint: "https://acme.example/token" },
      credentials: { source: "shared", vendor_client_id: "ours", client_secret: "[secret]" },
      authorization_parameters: {
        scope: { value: "write", source: "request" },
        access_type: { value: "offline", source: "vendor" },
        client_id: { value: "ours", source: "configuration" },
        prompt: { value: "consent", source: "request" },
        audience: { value: "api", source: "request" },
        code_challenge_method: { value: "S256", source: "broker" },
      },
    });
    expect(JSON.stringify(body)).not.toContain("vendor secret");
    expect(seen).toEqual([]);
  });

  it("refuses what /v1/par would refuse, and takes a connection", async () => {
    const { post, connection } = await connected();
    const { body } = await post("/v1/explain", { vendor: "acme", redirect_uri: "https://evil.example" });
    expect(body).toMatchObject({ error: "invalid_request", reason: "redirect_uri" });
    const wrong = { code_challenge: "x", response_type: "token", request: "x", response_mode: "form_post" };
    for (const [name, value] of Object.entries(wrong)) {
      expect((await post("/v1/explain", { vendor: "acme", [name]: value })).body["error"]).toBe("invalid_request");
    }
    expect((await post("/v1/explain", { connection })).body).toMatchObject({ vendor: "acme" });
  });
});
