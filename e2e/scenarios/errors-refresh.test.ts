/** POST /v1/token with a refresh token: one vendor call for equal requests, and no silent loss. */
import type { Fault } from "@oauth-broker/simulators";
import { expectError, REFLECTED } from "@oauth-broker/oauth-core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { type Answer, type Form, readTokens, type Tokens } from "../support/platform.ts";
import { type Harness, startHarness } from "../support/harness.ts";
import { textMember } from "../support/text-member.ts";

let harness: Harness;
let gate: Gate;

beforeAll(async () => {
  harness = await startHarness(async (issuer, secrets) => {
    gate = createGate(await freePort(), Number(new URL(issuer).port));
    const credentials = `credentials: { client_id: broker, client_secret: ${secrets.vendor} }`;
    return {
      client: "    vendors: [op, keeps, gated]",
      vendors: `
  keeps: { name: Keeps, issuer: ${issuer}, ${credentials} }
  gated: { name: Gated, issuer: ${issuer}, refresh_endpoint: ${gate.url}/token, ${credentials} }
  foreign: { name: Foreign, issuer: ${issuer}, ${credentials} }`,
    };
  });
});
afterEach(() => {
  harness.vendor.faults.clear();
});
afterAll(async () => {
  await gate.shut();
  await harness.close();
});

const refresh = (tokens: Pick<Tokens, "refreshToken" | "connection">, form: Form = {}): Promise<Answer> =>
  harness.platform.post("/v1/token", {
    grant_type: "refresh_token",
    refresh_token: tokens.refreshToken,
    connection: tokens.connection,
    ...form,
  });

const revoke = (tokens: Pick<Tokens, "accessToken" | "connection">, form: Form = {}): Promise<Answer> =>
  harness.platform.post("/v1/revoke", { token: tokens.accessToken, connection: tokens.connection, ...form });

const answer = (status: number, body: string, headers: Record<string, string> = {}): Fault => ({
  kind: "answer",
  status,
  body,
  headers,
});

describe.each([
  ["/v1/token", (tokens: Tokens, form: Form) => refresh(tokens, form)],
  ["/v1/revoke", (tokens: Tokens, form: Form) => revoke(tokens, form)],
])("what %s gets as the origin of the token", (path, ask) => {
  let tokens: Tokens;
  beforeAll(async () => {
    tokens = await harness.platform.connect();
  });

  it.each<[string, Form, string]>([
    ["refuses neither connection nor vendor", { connection: undefined }, "invalid_request"],
    ["refuses an invalid connection", { connection: REFLECTED }, "invalid_request"],
    ["refuses an empty kid", { connection: ".r3flect" }, "invalid_request"],
    ["refuses a vendor that contradicts the connection", { vendor: "keeps" }, "invalid_request"],
    ["refuses an unknown vendor", { connection: undefined, vendor: REFLECTED }, "invalid_request"],
    ["refuses a vendor this client may not use", { connection: undefined, vendor: "foreign" }, "unauthorized_client"],
    ["refuses credentials of the caller's own", { vendor_client_id: "r3flect" }, "invalid_request"],
    ["refuses an endpoint", { token_endpoint: "https://r3flect.example" }, "unauthorized_client"],
    ["refuses an issuer", { issuer: "https://r3flect.example" }, "unauthorized_client"],
    ["refuses a secret without its id", { vendor_client_secret: "r3flect" }, "invalid_request"],
    ["refuses no token", { refresh_token: "", token: "" }, "invalid_request"],
  ])("%s", async (_, form, error) => {
    const before = harness.vendor.requests().length;
    expectError(await ask(tokens, form), 400, error);
    expect(harness.vendor.requests()).toHaveLength(before);
  });

  it("bar#RF-7 refuses an altered connection, wherever it was altered", async () => {
    const { connection } = tokens;
    for (const at of [0, connection.indexOf(".") + 1, Math.floor(connection.length / 2), connection.length - 2]) {
      const other = connection[at] === "A" ? "B" : "A";
      expectError(
        await ask(tokens, { connection: connection.slice(0, at) + other + connection.slice(at + 1) }),
        400,
        "invalid_request",
      );
    }
    expectError(await ask(tokens, { connection: connection.slice(0, -1) }), 400, "invalid_request");
    expectError(await ask(tokens, { connection: `${connection}A` }), 400, "invalid_request");
  });

  it("bar#RF-7 refuses another client's connection", async () => {
    const form =
      path === "/v1/token"
        ? { grant_type: "refresh_token", refresh_token: tokens.refreshToken }
        : { token: tokens.accessToken };
    expectError(await harness.other.post(path, { ...form, connection: tokens.connection }), 400, "invalid_request");
  });
});

describe("refresh", () => {
  it("rfc6749#6 answers new tokens and a new connection that goes on working", async () => {
    let tokens: Pick<Tokens, "accessToken" | "refreshToken" | "connection"> = await harness.platform.connect();
    for (let round = 0; round < 3; round += 1) {
      const fresh: Answer = await refresh(tokens);
      expect(fresh.status, fresh.text).toBe(200);
      expect(fresh.body).toMatchObject({ token_type: "Bearer", vendor: "op", vendor_data: {} });
      expect(fresh.body["access_token"]).not.toBe(tokens.accessToken);
      tokens = readTokens(fresh);
    }
  });

  it("takes the vendor's id in place of a connection", async () => {
    const tokens = await harness.platform.connect();
    const fresh = await refresh(tokens, { connection: undefined, vendor: "op" });
    expect(textMember(fresh.body, "connection")).not.toBe("");
    readTokens(fresh);
  });

  it("bar#RF-2 keeps the old refresh token when the vendor sends none", async () => {
    const tokens = await harness.platform.connect();
    harness.vendor.faults.next("/token", {
      kind: "rewrite",
      rewrite: (tokenSet) => ({ ...tokenSet, refresh_token: undefined }),
    });
    const fresh = await refresh(tokens);
    expect(fresh.body["refresh_token"]).toBe(tokens.refreshToken);
    readTokens(fresh);
  });

  it("bar#RF-1 replays one answer for 60 s, and asks again after that", async () => {
    const tokens = await harness.platform.connect();
    const before = harness.vendorCalls("/token");
    const first = await refresh(tokens);
    readTokens(first);
    harness.now.advance(59);
    const replayed = await refresh(tokens);
    // The same tokens, with their remaining lifetime.
    expect(replayed.body).toEqual({ ...first.body, expires_in: 3600 - 59 });
    expect(harness.vendorCalls("/token")).toBe(before + 1);
    harness.now.advance(1);
    // The vendor rotates: the old refresh token is dead there by now, and the platform gets that
    // error.
    expectError(await refresh(tokens), 400, "invalid_grant");
    expect(harness.vendorCalls("/token")).toBe(before + 2);
  });

  it("bar#RF-1 does not replay to another client, for another scope, or by another credential", async () => {
    const tokens = await harness.platform.connect();
    readTokens(await refresh(tokens));
    const before = harness.vendorCalls("/token");
    await refresh(tokens, { scope: "openid" });
    await harness.other.post("/v1/token", {
      grant_type: "refresh_token",
      refresh_token: tokens.refreshToken,
      vendor: "op",
    });
    expect(harness.vendorCalls("/token")).toBe(before + 2);
  });

  it("distinguishes a dead refresh token from every other error", async () => {
    const tokens = await harness.platform.connect();
    const body = expectError(await refresh(tokens, { refresh_token: "r3flect-refresh-token" }), 400, "invalid_grant");
    expect(body["vendor_error"]).toBe("invalid_grant");
  });

  it.each<[string, string, Fault, number, string, string | undefined]>([
    [
      "a lost answer of a vendor that rotates means start again",
      "op",
      { kind: "lose" },
      503,
      "temporarily_unavailable",
      "restart",
    ],
    [
      "a lost answer of a vendor that may not rotate does not",
      "keeps",
      { kind: "drop" },
      503,
      "temporarily_unavailable",
      undefined,
    ],
    [
      "an outage spends nothing",
      "op",
      answer(503, "", { "Retry-After": "2" }),
      503,
      "temporarily_unavailable",
      undefined,
    ],
    [
      "HTML is a wrong answer",
      "op",
      answer(200, "<html>r3flect", { "Content-Type": "text/html" }),
      502,
      "vendor_response_invalid",
      undefined,
    ],
    [
      "refused credentials are named",
      "op",
      answer(401, '{"error":"invalid_client"}'),
      400,
      "vendor_credentials_rejected",
      undefined,
    ],
    ["a refused scope is named", "op", answer(400, '{"error":"invalid_scope"}'), 400, "invalid_scope", undefined],
  ])("%s", async (_, vendor, fault, status, error, retry) => {
    const tokens = await harness.platform.connect({ form: { vendor } });
    harness.vendor.faults.next("/token", fault);
    const body = expectError(await refresh(tokens), status, error);
    expect(body["retry"]).toBe(retry);
    expect(body["credentials_source"]).toBe(error === "vendor_credentials_rejected" ? "shared" : undefined);
  });

  it("replays a failure no longer than its Retry-After", async () => {
    const tokens = await harness.platform.connect();
    harness.vendor.faults.next("/token", answer(503, "", { "Retry-After": "3" }));
    const before = harness.vendorCalls("/token");
    expectError(await refresh(tokens), 503, "temporarily_unavailable");
    expectError(await refresh(tokens), 503, "temporarily_unavailable");
    expect(harness.vendorCalls("/token")).toBe(before + 1);
    harness.now.advance(3);
    readTokens(await refresh(tokens));
    expect(harness.vendorCalls("/token")).toBe(before + 2);
  });

  it("works again with the same token after the vendor refused connections", async () => {
    const tokens = await harness.platform.connect({ form: { vendor: "gated" } });
    const body = expectError(await refresh(tokens), 503, "temporarily_unavailable");
    expect(body).not.toHaveProperty("retry");
    await gate.open();
    harness.now.advance(5);
    const fresh = await refresh(tokens);
    expect(fresh.status, fresh.text).toBe(200);
    readTokens(fresh);
    await gate.shut();
  });

  it("bar#RF-6 refuses the tokens of another user", async () => {
    const tokens = await harness.platform.connect();
    const { body: theirs } = (await harness.platform.connect({ account: "operator" })).answer;
    harness.vendor.faults.next("/token", {
      kind: "rewrite",
      rewrite: (tokenSet) => ({
        ...tokenSet,
        access_token: theirs["access_token"],
        id_token: theirs["vendor_id_token"],
      }),
    });
    const body = expectError(await refresh(tokens), 502, "vendor_response_invalid");
    expect(body["reason"]).toBe("subject_mismatch");
  });
});
