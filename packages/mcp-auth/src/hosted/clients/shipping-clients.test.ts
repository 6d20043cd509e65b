/**
 * What shipping clients send, as they published it: their registrations and documents lead to a
 * session without a change on their side.
 */
import { afterEach, describe, expect, it } from "vitest";
import chatgpt from "../../testing/client-payloads/chatgpt-document.json" with { type: "json" };
import cursor from "../../testing/client-payloads/cursor-registration.json" with { type: "json" };
import pythonSdk from "../../testing/client-payloads/python-sdk-registration.json" with { type: "json" };
import { openStubServerFixture, type StubServerFixture } from "../../testing/server-fixture.ts";

let fixture: StubServerFixture | undefined;
afterEach(() => fixture?.close());

const connect = async (client: Record<string, string>) => {
  const one = fixture as StubServerFixture;
  const back = await one.browser().connect(client);
  expect(back.href.startsWith(client["redirect_uri"] ?? "")).toBe(true);
  return one.redeem(back.searchParams.get("code"), client);
};

describe.each([
  ["Cursor", cursor, ["https://www.cursor.com/agents/mcp/oauth/callback", "http://localhost:8787/callback"]],
  ["the official Python SDK before 1.30", pythonSdk, ["http://localhost:3030/callback"]],
])("%s", (_name, payload, usable) => {
  it("rfc7591#3.2.1 registers as it asks, and connects with each address that is left", async () => {
    fixture = await openStubServerFixture({ callback: { registration: { hosts: [] } } });
    const { status, body } = await fixture.register(payload);
    expect(status).toBe(201);
    expect(body).toMatchObject({ redirect_uris: usable, token_endpoint_auth_method: "none" });
    expect(body).not.toHaveProperty("client_secret");
    for (const redirect_uri of usable) {
      expect((await connect({ client_id: String(body["client_id"]), redirect_uri })).status).toBe(200);
    }
  });
});

describe.each([
  ["a listed host", ["chatgpt.com"]],
  ["any host", ["*"]],
])("ChatGPT's document at %s", (_what, clientMetadataHosts) => {
  const client = { client_id: chatgpt.client_id, redirect_uri: chatgpt.redirect_uris[0] ?? "" };

  it("connects as the public client it can be, and a signed assertion is refused, not ignored", async () => {
    fixture = await openStubServerFixture({
      callback: { clientMetadataHosts },
      fetchDocument: async () => Response.json(chatgpt),
    });
    const { body } = await connect(client);
    expect(body).toMatchObject({ token_type: "Bearer" });
    const signed = {
      ...client,
      grant_type: "refresh_token",
      refresh_token: body["refresh_token"],
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: "e30.e30.e30",
    };
    expect(await fixture.token(signed)).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    const { client_assertion: _, client_assertion_type: __, ...plain } = signed;
    expect((await fixture.token(plain)).status).toBe(200);
  });
});

describe("what clients send besides, and always could", () => {
  it("a state of 4,000 characters comes back, and an empty client_secret is none", async () => {
    fixture = await openStubServerFixture();
    const state = "s".repeat(4_000);
    const back = await fixture.browser().connect({ state });
    expect(back.searchParams.get("state")).toBe(state);
    expect((await fixture.redeem(back.searchParams.get("code"), { client_secret: "" })).status).toBe(200);
  });

  it("eight refreshes at once are one, with the same answer", async () => {
    fixture = await openStubServerFixture();
    const { body } = await fixture.connect();
    const one = fixture;
    const answers = await Promise.all(Array.from({ length: 8 }, () => one.refresh(body["refresh_token"])));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.body["refresh_token"])).size).toBe(1);
  });
});
