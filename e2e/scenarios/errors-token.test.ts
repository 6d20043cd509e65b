/**
 * POST /v1/token with a code: which failures keep the code, which end it, and what the platform
 * should do next.
 */
import { expectError } from "@oauth-broker/oauth-core/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { OTHER_REDIRECT_URI } from "../support/configuration.ts";
import { freePort } from "../support/free-port.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { type Form, random } from "../support/platform.ts";
import { type Harness, startHarness } from "../support/harness.ts";

let harness: Harness;
let gate: Gate;

beforeAll(async () => {
  harness = await startHarness(async (issuer, secrets) => {
    gate = createGate(await freePort(), Number(new URL(issuer).port));
    const credentials = `credentials: { client_id: broker, client_secret: ${secrets.vendor} }`;
    return {
      vendors: `
  gated: { name: Gated, issuer: ${issuer}, token_endpoint: ${gate.url}/token, ${credentials} }
  brief: { name: Brief, issuer: ${issuer}, authorization_code_lifetime_seconds: 30, ${credentials} }`,
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

/** The code still works afterwards. */
async function expectAlive(flow: { code: string; codeVerifier: string }): Promise<void> {
  const answer = await harness.platform.redeem(flow);
  expect(answer.status, answer.text).toBe(200);
}

async function expectDead(flow: { code: string; codeVerifier: string }): Promise<void> {
  expectError(await harness.platform.redeem(flow), 400, "invalid_grant");
}

describe("what keeps the code", () => {
  it.each<[string, Form, string]>([
    ["refuses another redirect_uri", { redirect_uri: OTHER_REDIRECT_URI }, "invalid_grant"],
    ["refuses no redirect_uri", { redirect_uri: undefined }, "invalid_request"],
    ["rfc7636#4.5 refuses no verifier", { code_verifier: undefined }, "invalid_request"],
    ["refuses a verifier of 42 characters", { code_verifier: "r3flect".repeat(6) }, "invalid_request"],
    ["refuses a verifier of 129 characters", { code_verifier: "r".repeat(129) }, "invalid_request"],
    ["refuses a verifier in another alphabet", { code_verifier: `${"r3flect".repeat(7)}+` }, "invalid_request"],
    ["refuses another client_id", { client_id: "other" }, "invalid_request"],
    ["refuses another grant type", { grant_type: "password" }, "unsupported_grant_type"],
    ["refuses no grant type", { grant_type: undefined }, "invalid_request"],
  ])("%s", async (_, form, error) => {
    const flow = await harness.platform.toPlatform();
    expectError(await harness.platform.redeem(flow, form), 400, error);
    await expectAlive(flow);
  });

  it("bar#XA-8 refuses another client, which learns nothing", async () => {
    const flow = await harness.platform.toPlatform();
    const stolen = await harness.other.redeem(flow);
    expectError(stolen, 400, "invalid_grant");
    const unknown = await harness.other.redeem({ ...flow, code: `${"a".repeat(22)}.${"b".repeat(43)}` });
    expect(stolen.body["error_description"]).toBe(unknown.body["error_description"]);
    await expectAlive(flow);
  });

  it("bar#VR-5 answers 503 without retry while the vendor refuses connections, and then the same code works", async () => {
    const flow = await harness.platform.toPlatform({ form: { vendor: "gated" } });
    const body = expectError(await harness.platform.redeem(flow), 503, "temporarily_unavailable");
    expect(body).not.toHaveProperty("retry");
    expect(body["flow_id"]).toBe(flow.flowId);
    await gate.open();
    await expectAlive(flow);
    await gate.shut();
  });
});

describe("what ends the code", () => {
  it("bar#XA-7 ends it at a well-formed wrong verifier", async () => {
    const flow = await harness.platform.toPlatform();
    const body = expectError(
      await harness.platform.redeem(flow, { code_verifier: random("wrong verifier") }),
      400,
      "invalid_grant",
    );
    expect(body["flow_id"]).toBe(flow.flowId);
    await expectDead(flow);
    expect(harness.vendor.requests().some((seen) => seen.body["code"] === flow.callback.searchParams.get("code"))).toBe(
      false,
    );
  });

  it("bar#XA-8 ends it at its first use", async () => {
    const flow = await harness.platform.toPlatform();
    await expectAlive(flow);
    await expectDead(flow);
  });

  it.each([
    ["op", 60],
    ["brief", 25],
  ])("of %s after %i s, and says that it came too late", async (vendor, seconds) => {
    const early = await harness.platform.toPlatform({ form: { vendor } });
    const late = await harness.platform.toPlatform({ form: { vendor } });
    harness.now.advance(seconds - 1);
    await expectAlive(early);
    harness.now.advance(1);
    const body = expectError(await harness.platform.redeem(late), 400, "invalid_grant");
    expect(body).toMatchObject({ reason: "vendor_code_expired", flow_id: late.flowId });
  });

  it("refuses codes that never were", async () => {
    for (const code of ["r3flect", `${"a".repeat(22)}.${"b".repeat(43)}`, "."]) {
      expectError(await harness.platform.redeem({ code, codeVerifier: random("verifier") }), 400, "invalid_grant");
    }
    expectError(await harness.platform.redeem({ code: "", codeVerifier: random("verifier") }), 400, "invalid_request");
  });
});
