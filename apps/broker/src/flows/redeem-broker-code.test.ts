/**
 * Leg 4, and what it refuses. e2e/scenarios has a journey of it over the wire, with a real vendor.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { readAnswer } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it, vi } from "vitest";
import { keysUnavailable } from "../keys/keys-unavailable.ts";
import type { Keyset } from "../keys/keyset.ts";
import { CODE_VERIFIER, ISSUER, issueTokens, lose, NOW, testBroker } from "../testing/test-broker.ts";

const RESTART = { retry: "restart" };
const OURS = { credentials_source: "shared" };
const refusal = (error: string, status = 400): Response =>
  Response.json({ error, error_description: "r3flect" }, { status });

describe("leg 4, POST /v1/token", () => {
  it("rfc6749#5.1 rfc6749#4.1.3 returns the vendor's tokens and names their origin", async () => {
    const vendorAnswers = async () =>
      Response.json({
        access_token: "at",
        token_type: "bearer",
        expires_in: "3600",
        refresh_token: "rt",
        refresh_expires_in: 5_184_000,
        scope: "read",
        team: { id: 7 },
      });
    const { connect, seen } = await testBroker({ vendorAnswers });
    const { response, body } = await connect();
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(body).toEqual({
      access_token: "at",
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: "rt",
      refresh_token_expires_in: 5_184_000,
      scope: "read",
      vendor: "acme",
      connection: expect.any(String),
      vendor_data: { refresh_expires_in: 5_184_000, team: { id: 7 } },
    });
    expect(Object.fromEntries(seen[0]?.form ?? [])).toMatchObject({
      code: "vendor-code",
      redirect_uri: `${ISSUER}/v1/callback`,
    });
    expect(seen[0]?.form.get("code_verifier")).not.toBe(CODE_VERIFIER);
  });

  it("rfc6749#5.1 leaves out a scope that the vendor answers empty", async () => {
    const vendorAnswers = async () => Response.json({ access_token: "at", token_type: "bearer", scope: "" });
    const { connect } = await testBroker({ vendorAnswers });
    const { response, body } = await connect();
    expect(response.status).toBe(200);
    expect(body).not.toHaveProperty("scope");
  });

  it("rfc8707#2.2 bar#VR-10 sends the resource on both legs", async () => {
    const { start, land, redeem, seen } = await testBroker();
    const started = await start({ resource: "https://api.acme.example" });
    expect(started.location?.searchParams.get("resource")).toBe("https://api.acme.example");
    await redeem(await land(started));
    expect(seen[0]?.form.get("resource")).toBe("https://api.acme.example");
  });

  it.each<[string, Record<string, string>, string | undefined, string]>([
    ["no verifier", { code_verifier: "" }, undefined, "invalid_grant"],
    ["another redirect_uri", { redirect_uri: "https://platform.example/other" }, undefined, "invalid_grant"],
    ["no redirect_uri", { redirect_uri: "" }, undefined, "invalid_request"],
    ["another client with a wrong verifier", { code_verifier: "a".repeat(43) }, "other", "invalid_grant"],
    ["another client_id", { client_id: "other" }, undefined, "invalid_request"],
    ["another grant type", { grant_type: "password" }, undefined, "unsupported_grant_type"],
    ["no grant type", { grant_type: "" }, undefined, "invalid_request"],
  ])("keeps the code after %s", async (_, form, clientId, error) => {
    const { park, redeem } = await testBroker();
    const code = await park();
    expect((await redeem(code, form, clientId)).body).toMatchObject({ error });
    expect((await redeem(code)).response.status).toBe(200);
  });

  it("names the flow of a code in a request that cannot be read", async () => {
    const { park, post, redeem } = await testBroker();
    const code = await park();
    const twice = `grant_type=authorization_code&code=${encodeURIComponent(code)}&code_verifier=a&code_verifier=b`;
    const { response, body } = await post("/v1/token", twice);
    expect([response.status, body]).toMatchObject([400, { error: "invalid_request", flow_id: code.split(".")[0] }]);
    expect((await post("/v1/token", `${twice}&code=other`)).body).not.toHaveProperty("flow_id");
    expect((await redeem(code)).response.status).toBe(200);
  });

  it("bar#XA-8 tells another client no more of a code than of one that never was", async () => {
    const { park, redeem } = await testBroker();
    const code = await park();
    const stolen = (await redeem(code, {}, "other")).body;
    const unknown = `${"a".repeat(22)}.${"b".repeat(43)}`;
    for (const never of [unknown, "r3flect", "."]) {
      const { body } = await redeem(never, {}, "other");
      expect([body["error"], body["error_description"]]).toEqual(["invalid_grant", stolen["error_description"]]);
    }
    expect((await redeem("")).body).toMatchObject({ error: "invalid_request" });
    expect((await redeem(code)).response.status).toBe(200);
  });

  it.each([
    [60, {}],
    [25, { authorizationCodeLifetimeSeconds: 30 }],
  ])("ends a code at %i s, where the vendor's code lives as %j says", async (seconds, vendor) => {
    const { park, redeem, now } = await testBroker({ vendor });
    const [early, late] = [await park(), await park()];
    now.advance(seconds - 1);
    expect((await redeem(early)).response.status).toBe(200);
    now.advance(1);
    const expired = { error: "invalid_grant", reason: "vendor_code_expired", flow_id: late.split(".")[0] };
    expect((await redeem(late)).body).toMatchObject(expired);
  });

  it("bar#VR-5 keeps the code when nothing reached the vendor, and ends it once a byte was sent", async () => {
    let sent: boolean | undefined = false;
    const vendorAnswers = async () =>
      sent === undefined ? Response.json({ access_token: "at", token_type: "bearer" }) : lose(sent);
    const { park, redeem } = await testBroker({ vendorAnswers });
    const code = await park();
    const { response, body } = await redeem(code);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect([body["error"], body["retry"]]).toEqual(["temporarily_unavailable", undefined]);
    sent = undefined;
    expect((await redeem(code)).response.status).toBe(200);

    const other = await park();
    sent = true;
    expect((await redeem(other)).body).toMatchObject({ error: "temporarily_unavailable", retry: "restart" });
    sent = undefined;
    expect((await redeem(other)).body).toMatchObject({ error: "invalid_grant" });
  });

  it.each<[string, Response, number, string, Record<string, string>?]>([
    ["an outage", new Response("r3flect", { status: 500 }), 503, "temporarily_unavailable", RESTART],
    ["a bad gateway", new Response("<html>r3flect", { status: 502 }), 503, "temporarily_unavailable", RESTART],
    ["an overload", new Response("", { status: 429 }), 503, "temporarily_unavailable", RESTART],
    ["bar#VR-7 a page", new Response("<html>r3flect"), 502, "vendor_response_invalid"],
    ["bar#EG-12 a redirect", Response.redirect("https://r3flect.example/", 307), 502, "vendor_response_invalid"],
    ["an error in a 200", refusal("bad_verification_code", 200), 400, "invalid_grant"],
    ["bar#VR-9 invalid_grant", refusal("invalid_grant"), 400, "invalid_grant"],
    ["bar#VR-9 invalid_client", refusal("invalid_client", 401), 400, "vendor_credentials_rejected", OURS],
    ["bar#VR-9 unauthorized_client", refusal("unauthorized_client"), 400, "vendor_credentials_rejected", OURS],
    ["bar#VR-9 invalid_scope", refusal("invalid_scope"), 400, "invalid_scope"],
    ["bar#VR-9 invalid_request", refusal("invalid_request"), 502, "vendor_response_invalid"],
    ["bar#VR-9 an unknown error", refusal("something_else"), 502, "vendor_response_invalid"],
  ])("answers %s of the vendor once, and the code is gone", async (_, answer, status, error, members = {}) => {
    const { park, redeem, seen, lines } = await testBroker({ vendorAnswers: async () => answer.clone() });
    const code = await park();
    const { response, body } = await redeem(code);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ route: "/v1/token", credentials_id: "2026" });
    const { error_description: _text, vendor_error: vendorError, ...rest } = body;
    expect([response.status, rest]).toEqual([status, { error, flow_id: code.split(".")[0], ...members }]);
    expect(vendorError).toBe((await readAnswer(answer)).body["error"]);
    expect((await redeem(code)).body).toMatchObject({ error: "invalid_grant" });
    expect(seen).toHaveLength(1);
  });

  it("bar#CB-17 redeems at the callback if codes die too fast, and still requires the verifier", async () => {
    const { start, callback, redeem, seen, deps } = await testBroker({ vendor: { redeemAt: "callback" } });
    const { state, cookie } = await start();
    const { location } = await callback({ state, code: "vendor-code" }, cookie);
    expect(seen).toHaveLength(1);
    const code = location?.searchParams.get("code") ?? "";
    const id = location?.searchParams.get("flow_id") ?? "";
    expect(JSON.stringify(await deps.records.get({ kind: "flow", id }))).not.toMatch(/accessToken|vendor-code/);
    expect((await redeem(code, { code_verifier: "short" })).response.status).toBe(400);
    expect((await redeem(code)).body).toMatchObject({ access_token: "at" });
    expect(seen).toHaveLength(1);
  });

  it.each([
    ["either", "rt", "refresh_token"],
    ["refresh_token", "rt", "refresh_token"],
    ["access_token", "at", "access_token"],
  ] as const)("bar#XA-7 ends the parked tokens of a code that is burned or comes too late: %s", async (...expected) => {
    const [revokes, token, hint] = expected;
    const vendor = { redeemAt: "callback" as const, revokes, revocationEndpoint: "https://acme.example/revoke" };
    const { park, redeem, seen, now } = await testBroker({ vendor, vendorAnswers: issueTokens });
    const [burned, late] = [await park(), await park()];
    await redeem(burned, { code_verifier: "a".repeat(43) });
    now.advance(60);
    await redeem(late);
    const revoked = seen.filter(({ url }) => url.endsWith("/revoke")).map(({ form }) => Object.fromEntries(form));
    const asked = expect.objectContaining({ token, token_type_hint: hint });
    expect(revoked).toEqual([asked, asked]);
  });

  it("keeps the code of parked tokens while their key is not available", async () => {
    const { park, redeem, deps } = await testBroker({ vendor: { redeemAt: "callback" } });
    const code = await park();
    const find = vi.spyOn(deps.keyset, "find").mockRejectedValue(keysUnavailable("KMS is away"));
    expect((await redeem(code)).body).toMatchObject({ error: "temporarily_unavailable" });
    find.mockRestore();
    expect((await redeem(code)).body).toMatchObject({ access_token: "at" });
  });

  it.each<[string, (keyset: Keyset) => void, string]>([
    [
      "a record whose key another machine has made",
      (keyset) => {
        vi.spyOn(keyset, "find").mockResolvedValue(undefined);
        vi.spyOn(keyset, "describe").mockReturnValue([]);
      },
      "the keyset lacks the key of a record",
    ],
    [
      "a flow whose key the keyset lacks",
      (keyset) => {
        const { find } = keyset;
        vi.spyOn(keyset, "find").mockImplementation(async (...of) => (of[0] === "flow" ? undefined : find(...of)));
      },
      "the keyset lacks the key that this flow began with",
    ],
  ])("keeps the code of %s, and tells the operator", async (_, takeKeys, detail) => {
    const { park, redeem, deps, lines } = await testBroker();
    const code = await park();
    takeKeys(deps.keyset);
    const { response, body } = await redeem(code);
    expect([response.status, body.retry]).toEqual([503, undefined]);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ level: "error", reason: "keys_unavailable", detail });
    vi.restoreAllMocks();
    expect((await redeem(code)).response.status).toBe(200);
  });

  it("tells the client to start again, and ends the tokens, when they cannot be parked", async () => {
    const vendor = { redeemAt: "callback" as const, revocationEndpoint: "https://acme.example/revoke" };
    const { start, callback, deps, seen } = await testBroker({ vendor });
    const { state, cookie } = await start();
    const { advance } = deps.records;
    Object.assign(deps.records, {
      advance: (...args: Parameters<typeof advance>) =>
        args[1].stage === "redeeming"
          ? Promise.reject(new OAuthError("temporarily_unavailable", "store is down"))
          : advance(...args),
    });
    const { location } = await callback({ state, code: "c" }, cookie);
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      error: "temporarily_unavailable",
      retry: "restart",
    });
    expect(seen.at(-1)?.url).toBe("https://acme.example/revoke");
  });

  it("writes the flow's end into its timeline, without anything secret", async () => {
    const { park, redeem, deps } = await testBroker();
    const code = await park();
    await redeem(code);
    const [flowId = ""] = code.split(".");
    const record = await deps.records.get({ kind: "flow", id: flowId }, { includeExpired: true });
    expect(record?.stage).toBe("spent");
    expect(record?.keepUntil).toBe(NOW + 3600);
    expect(Object.keys(record?.data ?? {})).not.toEqual(expect.arrayContaining(["sealed", "state"]));
  });
});
