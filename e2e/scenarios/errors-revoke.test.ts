/** POST /v1/revoke: what was revoked at the vendor, or why nothing could be. */
import { type Fault, startStubVendor, type StubVendor } from "@oauth-broker/simulators";
import { expectError } from "@oauth-broker/oauth-core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Answer, Form, Tokens } from "../support/platform.ts";
import { type Harness, startHarness } from "../support/harness.ts";
import { textMember } from "../support/text-member.ts";

let harness: Harness;
let stub: StubVendor;

beforeAll(async () => {
  stub = await startStubVendor();
  harness = await startHarness((_, secrets) => ({
    vendors: `
  mute:
    name: Mute
    authorization_endpoint: ${stub.authorizationEndpoint}
    token_endpoint: ${stub.tokenEndpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`,
  }));
});
afterEach(() => {
  harness.vendor.faults.clear();
});
afterAll(async () => {
  await harness.close();
  await stub.close();
});

const revoke = (tokens: Pick<Tokens, "accessToken" | "connection">, form: Form = {}): Promise<Answer> =>
  harness.platform.post("/v1/revoke", { token: tokens.accessToken, connection: tokens.connection, ...form });

const answer = (status: number, body: string, headers: Record<string, string> = {}): Fault => ({
  kind: "answer",
  status,
  body,
  headers,
});

describe("revoke", () => {
  it("rfc7009#2.1 ends the token at the vendor, and says so again when asked again", async () => {
    const tokens = await harness.platform.connect();
    const first = await revoke(tokens, { token_type_hint: "access_token" });
    expect({ status: first.status, body: first.body }).toEqual({ status: 200, body: { revoked: "token" } });
    expect(first.headers.get("cache-control")).toBe("no-store");
    expect((await revoke(tokens)).status).toBe(200);
    const userinfo = await fetch(`${harness.vendor.issuer}/me`, {
      headers: { authorization: `Bearer ${tokens.accessToken}` },
    });
    expect(userinfo.status).toBe(401);
  });

  it("rfc7009#2.1 ignores an unknown hint, and hands on a known one", async () => {
    const tokens = await harness.platform.connect();
    expect((await revoke(tokens, { token: tokens.refreshToken, token_type_hint: "r3flect" })).status).toBe(200);
    expect(harness.vendor.requests().at(-1)?.body).not.toHaveProperty("token_type_hint");
    expect((await revoke(tokens, { token_type_hint: "refresh_token" })).status).toBe(200);
    expect(harness.vendor.requests().at(-1)?.body["token_type_hint"]).toBe("refresh_token");
  });

  it("bar#RV-2 says what the user can do where the vendor has no way to revoke", async () => {
    const tokens = await harness.platform.connect({ form: { vendor: "mute" } });
    const body = expectError(await revoke(tokens), 400, "unsupported_token_type");
    expect(textMember(body, "help")).toContain("remove");
  });

  it.each<[string, Fault, number, string]>([
    ["bar#RV-2 hands on an outage", answer(503, "", { "Retry-After": "9" }), 503, "temporarily_unavailable"],
    ["hands on a cut connection", { kind: "drop" }, 503, "temporarily_unavailable"],
    ["hands on refused credentials", answer(401, '{"error":"invalid_client"}'), 400, "vendor_credentials_rejected"],
    [
      "bar#RV-2 hands on unsupported_token_type",
      answer(400, '{"error":"unsupported_token_type"}'),
      400,
      "unsupported_token_type",
    ],
    ["refuses a wrong answer", answer(400, "<html>r3flect"), 502, "vendor_response_invalid"],
  ])("%s", async (_, fault, status, error) => {
    const tokens = await harness.platform.connect();
    harness.vendor.faults.next("/token/revocation", fault);
    const body = expectError(await revoke(tokens), status, error);
    expect(body["retry"]).toBeUndefined();
  });

  it("calls a token the vendor does not know already revoked", async () => {
    const tokens = await harness.platform.connect();
    harness.vendor.faults.next("/token/revocation", answer(400, '{"error":"invalid_token"}'));
    expect((await revoke(tokens)).body).toEqual({ revoked: "already" });
  });
});
