import { fixedClock, ofEachTest } from "@oauth-broker/oauth-core/testing";
import { decodeJwt, generateKeyPair } from "jose";
import { describe, expect, it } from "vitest";
import { CHECK_ANSWER, createFakeBroker, ISSUER, networkFailure, PLATFORM, refusal } from "../testing/fake-broker.ts";
import { createBrokerClient } from "./client.ts";

const now = fixedClock(1_700_000_000);
const { clientSecret: _, ...common } = { ...PLATFORM, now };
const broker = ofEachTest(createFakeBroker);
const client = ofEachTest(() => createBrokerClient({ ...PLATFORM, now, fetch: broker.fetch }));

describe("register", () => {
  it("passes on status, type and body unchanged", async () => {
    const body = Uint8Array.of(0xff, 0x00, 0x7b);
    broker.answers.set("/register", () => new Response(body, { status: 418, headers: { "content-type": "text/x" } }));
    expect(await client.register("notion", { initialAccessToken: "iat" })).toEqual({
      status: 418,
      contentType: "text/x",
      body,
    });
    const asked = broker.asked.at(-1)!;
    expect(JSON.parse(asked.text)).toEqual({ vendor: "notion", initial_access_token: "iat" });
    expect(asked.headers.get("authorization")).toMatch(/^Basic /);
    broker.answers.set("/register", () => new Response(null, { status: 204 }));
    expect(await client.register("notion")).toEqual({ status: 204, body: new Uint8Array() });
  });

  it("rfc7523#3 presents an assertion as a Bearer token where the client has a key", async () => {
    const { privateKey } = await generateKeyPair("ES256");
    await createBrokerClient({ ...common, privateKey, fetch: broker.fetch }).register("notion");
    const assertion = broker.asked.at(-1)!.headers.get("authorization")?.replace("Bearer ", "") ?? "";
    expect(decodeJwt(assertion)).toMatchObject({ iss: "platform", sub: "platform", aud: ISSUER });
  });

  it("rfc7523#3 takes a secret or a key, neither both nor none", async () => {
    const { privateKey } = await generateKeyPair("ES256");
    for (const credentials of [{}, { clientSecret: "" }, { clientSecret: "client-secret", privateKey }])
      expect(() => createBrokerClient({ ...common, ...credentials })).toThrow("either clientSecret or privateKey");
  });
});

it("explain asks as start does, authenticated, and takes a connection in place of it", async () => {
  broker.answers.set("/v1/explain", () => Response.json({ vendor: "github", tier: 1 }));
  expect(await client.explain({ vendor: "github", scope: "repo" })).toEqual({ vendor: "github", tier: 1 });
  expect(Object.fromEntries(broker.asked.at(-1)!.body)).toMatchObject({ vendor: "github", scope: "repo" });
  await client.explain({ connection: "sealed" });
  expect(broker.asked.at(-1)!.body.get("connection")).toBe("sealed");
  broker.answers.set("/v1/explain", () => Response.json({ error: "invalid_request" }, { status: 400 }));
  await expect(client.explain({ vendor: "x" })).rejects.toMatchObject({ code: "invalid_request" });
  broker.answers.set("/v1/explain", () => Response.json([]));
  await expect(client.explain({ vendor: "x" })).rejects.toMatchObject({ code: "invalid_response" });
});

describe("check", () => {
  const request = { accessToken: "vendor-access-token", connection: "sealed" };

  it("asks with token and connection, authenticated, and answers in this package's names", async () => {
    const byoc = { clientId: "own", clientSecret: "own secret" };
    expect(await client.check({ ...request, scope: "api:read api:write", byoc })).toEqual({
      active: true,
      checkedBy: "introspection",
      scope: "api:read",
      missingScope: "api:write",
      expiresAt: now() + 60,
      account: { issuer: "https://vendor.example", subject: "42" },
    });
    const asked = broker.asked.at(-1)!;
    expect([asked.path, asked.headers.get("authorization")?.slice(0, 6)]).toEqual(["/v1/check", "Basic "]);
    expect(Object.fromEntries(asked.body)).toEqual({
      access_token: "vendor-access-token",
      connection: "sealed",
      scope: "api:read api:write",
      vendor_client_id: "own",
      vendor_client_secret: "own secret",
    });
  });

  it.each([
    [
      { active: false, checked_by: "userinfo" },
      { active: false, checkedBy: "userinfo" },
    ],
    [
      { active: null, checked_by: "none" },
      { active: null, checkedBy: "none" },
    ],
    [
      { active: true, checked_by: "account", account: { issuer: null, subject: "7" } },
      { active: true, checkedBy: "account", account: { subject: "7" } },
    ],
  ])("leaves absent what the broker does not say: %j", async (answer, checked) => {
    broker.answers.set("/v1/check", () => Response.json(answer));
    expect(await client.check(request)).toEqual(checked);
  });

  it.each<object>([
    { ...CHECK_ANSWER, active: "true" },
    { ...CHECK_ANSWER, active: null },
    { active: true, checked_by: "none" },
    { ...CHECK_ANSWER, checked_by: "guess" },
    { active: true },
    { ...CHECK_ANSWER, scope: ["api:read"] },
    { ...CHECK_ANSWER, expires_in: "60" },
    { ...CHECK_ANSWER, expires_in: -1 },
    { ...CHECK_ANSWER, account: "42" },
    { ...CHECK_ANSWER, account: { issuer: "https://vendor.example" } },
    [],
  ])("refuses an answer that breaks its contract: %j", async (answer) => {
    broker.answers.set("/v1/check", () => Response.json(answer));
    await expect(client.check(request)).rejects.toMatchObject({ code: "invalid_response" });
  });

  it("throws what the broker refuses, and an outage, which is no dead token", async () => {
    broker.answers.set("/v1/check", refusal(400, { error: "invalid_request", reason: "account_mismatch" }));
    await expect(client.check(request)).rejects.toMatchObject({
      code: "invalid_request",
      details: { reason: "account_mismatch" },
    });
    broker.answers.set("/v1/check", networkFailure);
    await expect(client.check(request)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    const before = broker.asked.length;
    await expect(client.check({ ...request, accessToken: "" })).rejects.toMatchObject({ code: "invalid_request" });
    expect(broker.asked).toHaveLength(before);
  });
});
