/**
 * What a vendor may answer when its code is redeemed, and what the platform gets: an error code,
 * never the vendor's text.
 */
import type { Fault } from "@oauth-broker/simulators";
import { expectError, expectErrorRedirect } from "@oauth-broker/oauth-core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Answer, browse, random } from "../support/platform.ts";
import { type Harness, startHarness } from "../support/harness.ts";
import { textMember } from "../support/text-member.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness((issuer, secrets) => ({
    vendors: `
  hasty: { name: Hasty, issuer: ${issuer}, redeem_at: callback, credentials: { client_id: broker, client_secret: ${secrets.vendor} } }
  stale: { name: Stale, issuer: ${issuer}, credentials: { client_id: broker, client_secret: a-secret-that-was-replaced } }`,
  }));
});
afterEach(() => {
  harness.vendor.faults.clear();
});
afterAll(() => harness.close());

/** The code still works afterwards. */
async function expectAlive(flow: { code: string; codeVerifier: string }): Promise<void> {
  const answer = await harness.platform.redeem(flow);
  expect(answer.status, answer.text).toBe(200);
}

async function expectDead(flow: { code: string; codeVerifier: string }): Promise<void> {
  expectError(await harness.platform.redeem(flow), 400, "invalid_grant");
}

const answer = (status: number, body: string, headers: Record<string, string> = {}): Fault => ({
  kind: "answer",
  status,
  body,
  headers,
});
const rewrite = (change: Record<string, unknown>): Fault => ({
  kind: "rewrite",
  rewrite: (tokens) => ({ ...tokens, ...change }),
});

describe("what the vendor answers", () => {
  it.each<[string, Fault, number, string, Record<string, string>]>([
    [
      "bar#VR-5 a cut connection means start again",
      { kind: "drop" },
      503,
      "temporarily_unavailable",
      { retry: "restart" },
    ],
    [
      "bar#VR-5 a lost answer means start again",
      { kind: "lose" },
      503,
      "temporarily_unavailable",
      { retry: "restart" },
    ],
    ["an outage means start again", answer(500, "r3flect"), 503, "temporarily_unavailable", { retry: "restart" }],
    [
      "a bad gateway means start again",
      answer(502, "<html>r3flect"),
      503,
      "temporarily_unavailable",
      { retry: "restart" },
    ],
    [
      "an overload means start again",
      answer(429, "", { "Retry-After": "7" }),
      503,
      "temporarily_unavailable",
      { retry: "restart" },
    ],
    [
      "bar#VR-7 HTML is a wrong answer",
      answer(200, "<html>r3flect", { "Content-Type": "text/html" }),
      502,
      "vendor_response_invalid",
      {},
    ],
    [
      "bar#VR-7 half an object is a wrong answer",
      answer(200, '{"access_token":"r3flect'),
      502,
      "vendor_response_invalid",
      {},
    ],
    ["bar#VR-7 a list is a wrong answer", answer(200, '["r3flect"]'), 502, "vendor_response_invalid", {}],
    ["bar#VR-7 an empty body is a wrong answer", answer(200, ""), 502, "vendor_response_invalid", {}],
    [
      "bar#VR-7 a name twice is a wrong answer",
      answer(200, '{"access_token":"r3flect","access_token":"x","token_type":"bearer"}'),
      502,
      "vendor_response_invalid",
      {},
    ],
    [
      "bar#VR-7 no access token is a wrong answer",
      rewrite({ access_token: undefined }),
      502,
      "vendor_response_invalid",
      {},
    ],
    [
      "bar#VR-7 a number as access token is a wrong answer",
      rewrite({ access_token: 7 }),
      502,
      "vendor_response_invalid",
      {},
    ],
    [
      "oidc-core#3.1.3.3 openid without an ID token is a wrong answer",
      rewrite({ id_token: undefined }),
      502,
      "vendor_response_invalid",
      { reason: "id_token_missing" },
    ],
    [
      "bar#ID-1 an invalid ID token is a wrong answer",
      rewrite({ id_token: "r3.fle.ct" }),
      502,
      "vendor_response_invalid",
      {},
    ],
    [
      "bar#EG-12 a redirect is a wrong answer",
      answer(307, "", { Location: "https://r3flect.example/token" }),
      502,
      "vendor_response_invalid",
      {},
    ],
    [
      "an error inside a 200 counts",
      answer(200, '{"error":"bad_verification_code","error_description":"r3flect"}'),
      400,
      "invalid_grant",
      { vendor_error: "bad_verification_code" },
    ],
    [
      "bar#VR-9 invalid_grant is invalid_grant",
      answer(400, '{"error":"invalid_grant"}'),
      400,
      "invalid_grant",
      { vendor_error: "invalid_grant" },
    ],
    [
      "bar#VR-9 invalid_client names whose credentials",
      answer(401, '{"error":"invalid_client"}'),
      400,
      "vendor_credentials_rejected",
      { vendor_error: "invalid_client", credentials_source: "shared" },
    ],
    [
      "bar#VR-9 unauthorized_client too",
      answer(400, '{"error":"unauthorized_client"}'),
      400,
      "vendor_credentials_rejected",
      { credentials_source: "shared" },
    ],
    ["bar#VR-9 invalid_scope is invalid_scope", answer(400, '{"error":"invalid_scope"}'), 400, "invalid_scope", {}],
    [
      "bar#VR-9 invalid_request is a broken contract",
      answer(400, '{"error":"invalid_request"}'),
      502,
      "vendor_response_invalid",
      { vendor_error: "invalid_request" },
    ],
    [
      "bar#VR-9 unsupported_grant_type is a broken contract",
      answer(400, '{"error":"unsupported_grant_type"}'),
      502,
      "vendor_response_invalid",
      {},
    ],
    [
      "bar#VR-9 an unknown error code is an invalid answer",
      answer(400, '{"error":"r3flec"}'),
      502,
      "vendor_response_invalid",
      {},
    ],
  ])("%s", async (_, fault, status, error, members) => {
    const flow = await harness.platform.toPlatform();
    harness.vendor.faults.next("/token", fault);
    const before = harness.vendorCalls("/token");
    const body = expectError(await harness.platform.redeem(flow), status, error);
    expect(body).toMatchObject({ flow_id: flow.flowId, ...members });
    expect(body["retry"]).toBe(members["retry"]);
    expect(harness.vendorCalls("/token")).toBe(before + 1);
    await expectDead(flow);
    expect(harness.vendorCalls("/token")).toBe(before + 1);
  });

  it("hands on what the vendor's Retry-After says, and caps it", async () => {
    for (const [value, expected] of [
      ["7", "7"],
      ["86400", "60"],
      ["soon", "5"],
    ] as const) {
      const flow = await harness.platform.toPlatform();
      harness.vendor.faults.next("/token", answer(503, "", { "Retry-After": value }));
      expect((await harness.platform.redeem(flow)).headers.get("retry-after")).toBe(expected);
    }
  });

  it("reports that the shared credentials were really refused", async () => {
    const flow = await harness.platform.toPlatform({ form: { vendor: "stale" } });
    const body = expectError(await harness.platform.redeem(flow), 400, "vendor_credentials_rejected");
    expect(body).toMatchObject({ credentials_source: "shared", vendor_error: "invalid_client" });
  });

  it("rfc6749#5.1 normalises what vendors get nearly right, and hands on the rest as vendor_data", async () => {
    const flow = await harness.platform.toPlatform();
    harness.vendor.faults.next(
      "/token",
      rewrite({ token_type: "bEARER", expires_in: "3600", instance_url: "https://i.example" }),
    );
    const { body } = await harness.platform.redeem(flow);
    expect(body).toMatchObject({
      token_type: "Bearer",
      expires_in: 3600,
      vendor_data: { instance_url: "https://i.example" },
    });
    expect(body).not.toHaveProperty("id_token");
    expect(textMember(body, "vendor_id_token")).toMatch(/^eyJ/);
  });
});

describe("a vendor whose codes die too fast (redeem_at: callback)", () => {
  it("bar#CB-17 is asked at the callback, and the verifier is still needed", async () => {
    const before = harness.vendorCalls("/token");
    const flow = await harness.platform.toPlatform({ form: { vendor: "hasty" } });
    expect(harness.vendorCalls("/token")).toBe(before + 1);
    expectError(await harness.platform.redeem(flow, { code_verifier: undefined }), 400, "invalid_request");
    await expectAlive(flow);
    const stolen = await harness.platform.toPlatform({ form: { vendor: "hasty" } });
    expectError(
      await harness.platform.redeem(stolen, { code_verifier: random("wrong verifier") }),
      400,
      "invalid_grant",
    );
    await expectDead(stolen);
  });

  it.each<[string, Fault, string]>([
    ["a lost answer", { kind: "lose" }, "temporarily_unavailable"],
    ["a wrong answer", answer(200, "r3flect"), "vendor_response_invalid"],
    ["refused credentials", answer(401, '{"error":"invalid_client"}'), "vendor_credentials_rejected"],
  ])("sends %s back to the platform in the redirect", async (_, fault, error) => {
    const at = await harness.platform.toCallback({ form: { vendor: "hasty" } });
    harness.vendor.faults.next("/token", fault);
    const back: Answer = await browse(at.callback, at.jar);
    const { state } = at;
    const query = expectErrorRedirect(back, {
      redirectUri: harness.platform.redirectUri,
      error,
      state,
      iss: harness.baseUrl,
    });
    expect(query["retry"]).toBe(error === "temporarily_unavailable" ? "restart" : undefined);
    expect(query["credentials_source"]).toBe(error === "vendor_credentials_rejected" ? "shared" : undefined);
  });
});

describe("a vendor that does not answer in time", () => {
  it("is a 503 that says start again", async () => {
    const impatient = await startHarness({ timeoutMs: 300 });
    const flow = await impatient.platform.toPlatform();
    impatient.vendor.faults.next("/token", { kind: "hang" });
    const body = expectError(await impatient.platform.redeem(flow), 503, "temporarily_unavailable");
    expect(body).toMatchObject({ retry: "restart", flow_id: flow.flowId });
    await impatient.close();
  });
});
