import { describe, expect, it } from "vitest";
import { fixedClock, ofEachTest } from "@oauth-broker/oauth-core/testing";
import { BrokerClientError } from "../error.ts";
import { createFakeBroker, networkFailure, PLATFORM, refusal } from "../testing/fake-broker.ts";
import { createBrokerClient } from "./client.ts";

const now = fixedClock(1_700_000_000);

const broker = ofEachTest(createFakeBroker);
const client = ofEachTest(() => createBrokerClient({ ...PLATFORM, now, fetch: broker.fetch }));

const last = (path: string) => broker.asked.findLast((asked) => asked.path === path);

describe("refresh", () => {
  const request = { refreshToken: "vendor-refresh-token", connection: "sealed-connection" };
  const later = (retryAfterSeconds: number, reason: string) => ({ outcome: "retry_later", retryAfterSeconds, reason });
  const reauthorize = (reason: string) => ({ outcome: "reauthorize", reason });

  it("sends the connection, BYOC and a narrower scope", async () => {
    const byoc = { clientId: "own", clientSecret: "own-secret" };
    expect(await client.refresh({ ...request, byoc, scope: "api:read" })).toMatchObject({ outcome: "ok" });
    expect(Object.fromEntries(last("/v1/token")!.body)).toEqual({
      grant_type: "refresh_token",
      refresh_token: "vendor-refresh-token",
      connection: "sealed-connection",
      vendor_client_id: "own",
      vendor_client_secret: "own-secret",
      scope: "api:read",
    });
  });

  it("takes null, as a database gives it, for absent", async () => {
    const none = { vendor: null, connection: null, scope: null, placeholders: null } as object;
    expect(await client.refresh({ refreshToken: "t", ...none })).toMatchObject({ outcome: "ok" });
    expect([...last("/v1/token")!.body.keys()].toSorted()).toEqual(["grant_type", "refresh_token"]);
    const asked = broker.asked.length;
    for (const refreshToken of [null as never, undefined, ""]) {
      expect(await client.refresh({ ...request, refreshToken })).toEqual(reauthorize("no_refresh_token"));
    }
    expect(broker.asked).toHaveLength(asked);
  });

  const ended = { error: "invalid_grant" };
  const down = { error: "temporarily_unavailable" };
  const broken = { error: "vendor_response_invalid" };
  const misled = { ...broken, retry: "restart", reason: "subject_mismatch" };
  const moved = { ...ended, reason: "connection_endpoint_changed" };
  const rejected = { error: "vendor_credentials_rejected", credentials_source: "byoc" };

  it.each<[string, () => Response, object]>([
    ["an outage", refusal(503, down, { "retry-after": "9" }), later(9, down.error)],
    ["a limit", refusal(429, { error: "slow_down" }, { "retry-after": "30" }), later(30, "slow_down")],
    ["a broken vendor", refusal(502, broken), later(60, broken.error)],
    ["a broken broker", refusal(500, { error: "server_error" }), later(60, "server_error")],
    ["a page of a proxy", () => new Response("<h1>Gateway Timeout</h1>", { status: 504 }), later(5, "status_504")],
    ["no response", networkFailure, later(5, "broker_unreachable")],
    ["a lost answer", refusal(503, { ...down, retry: "restart" }), reauthorize("response_lost")],
    ["a wrong answer after a rotation", refusal(502, misled), reauthorize("subject_mismatch")],
    ["a dead token", refusal(400, ended), reauthorize("invalid_grant")],
    ["a moved vendor", refusal(400, moved), reauthorize("connection_endpoint_changed")],
    ["credentials", refusal(400, rejected), { outcome: "credentials_rejected", source: "byoc" }],
  ])("returns what to do after %s, and the error behind it", async (_what, answer, outcome) => {
    broker.answers.set("/v1/token", answer);
    expect(await client.refresh(request)).toEqual({ ...outcome, error: expect.any(BrokerClientError) });
  });

  const vendorsWait = refusal(503, { ...down, reason: "vendor" }, { "retry-after": "3600" });
  const sent = () => broker.asked.filter(({ path }) => path === "/v1/token").length;

  it("waits as long as the vendor says, for this user's tokens alone", async () => {
    const sound = broker.answers.get("/v1/token")!;
    broker.answers.set("/v1/token", vendorsWait);
    expect(await client.refresh(request)).toMatchObject(later(3600, "vendor"));
    now.advance(600);
    expect(await client.refresh(request)).toMatchObject(later(3000, "vendor"));
    expect(sent()).toBe(1);
    broker.answers.set("/v1/token", sound);
    expect(await client.refresh({ ...request, connection: "another" })).toMatchObject({ outcome: "ok" });
    expect(await client.refresh({ refreshToken: "t", vendor: "acme" })).toMatchObject({ outcome: "ok" });
    // Users of a client without owner may share a connection.
    expect(await client.refresh({ ...request, refreshToken: "another" })).toMatchObject({ outcome: "ok" });
    expect(sent()).toBe(4);
    now.advance(3000);
    expect(await client.refresh(request)).toMatchObject({ outcome: "ok" });
  });

  it("waits for the vendor also with a sealed refresh token alone", async () => {
    broker.answers.set("/v1/token", vendorsWait);
    expect(await client.refresh({ refreshToken: "sealed" })).toMatchObject(later(3600, "vendor"));
    expect(await client.refresh({ refreshToken: "sealed" })).toMatchObject(later(3600, "vendor"));
    expect(sent()).toBe(1);
  });

  it.each(["temporarily_unavailable", "slow_down"])("waits for no broker: %s", async (error) => {
    const sound = broker.answers.get("/v1/token")!;
    broker.answers.set("/v1/token", refusal(503, { error }, { "retry-after": "3600" }));
    await client.refresh(request);
    broker.answers.set("/v1/token", sound);
    expect(await client.refresh(request)).toMatchObject({ outcome: "ok" });
  });

  it("gives numbers beyond 2^53 as texts", async () => {
    const members = '"access_token":"a","token_type":"Bearer","vendor":"v","connection":"c"';
    const body = `{${members},"vendor_data":{"user_id":17841405822304915,"n":7}}`;
    broker.answers.set("/v1/token", () => new Response(body, { headers: { "content-type": "application/json" } }));
    const vendorData = { user_id: "17841405822304915", n: 7 };
    expect(await client.refresh(request)).toMatchObject({ tokens: { vendorData } });
  });

  it("returns the broker's description of a refused token, for the log", async () => {
    const said = { error: "invalid_grant", error_description: "The vendor refused", vendor_error: "bad_refresh_token" };
    broker.answers.set("/v1/token", refusal(400, said));
    const details = { vendorError: "bad_refresh_token" };
    const error = { code: "invalid_grant", description: "The vendor refused", details };
    expect(await client.refresh(request)).toMatchObject({ error });
  });

  it.each(["invalid_client", "invalid_request", "unauthorized_client", "invalid_scope"])(
    "throws %s: the caller is wrong, the tokens are still valid",
    async (error) => {
      broker.answers.set("/v1/token", refusal(error === "invalid_client" ? 401 : 400, { error }));
      await expect(client.refresh(request)).rejects.toMatchObject({ code: error });
    },
  );
});

describe("revoke", () => {
  it.each(["token", "grant", "already"])("says what the broker did: %s", async (revoked) => {
    broker.answers.set("/v1/revoke", () => Response.json({ revoked }));
    const answer = await client.revoke({ token: "t", tokenTypeHint: "access_token", connection: "c" });
    expect(answer).toEqual({ outcome: "revoked", revoked });
    const sent = { token: "t", token_type_hint: "access_token", connection: "c" };
    expect(Object.fromEntries(last("/v1/revoke")!.body)).toEqual(sent);
  });

  it("rfc7009#2.2.1 says what the user can do where the vendor has no way", async () => {
    broker.answers.set("/v1/revoke", refusal(400, { error: "unsupported_token_type", help: "Open the settings" }));
    expect(await client.revoke({ token: "t", connection: "c" })).toEqual({
      outcome: "unsupported",
      help: "Open the settings",
      error: expect.objectContaining({ code: "unsupported_token_type" }),
    });
  });

  it("rfc7009#2.2.1 throws every other error of the broker", async () => {
    broker.answers.set("/v1/revoke", refusal(400, { error: "invalid_grant" }));
    await expect(client.revoke({ token: "t", connection: "c" })).rejects.toMatchObject({ code: "invalid_grant" });
  });

  it("rfc7009#2.2 takes no other answer for a success", async () => {
    broker.answers.set("/v1/revoke", () => Response.json({ revoked: "perhaps" }));
    await expect(client.revoke({ token: "t", connection: "c" })).rejects.toMatchObject({ code: "invalid_response" });
    broker.answers.set("/v1/revoke", () => new Response("ok"));
    await expect(client.revoke({ token: "t", connection: "c" })).rejects.toMatchObject({ code: "invalid_response" });
  });
});
