/**
 * Requests to a hosted server's /token, /revoke and /register that no well-behaved client makes:
 * every answer is one of the protocol's, echoes nothing, spends nothing, and the next request is
 * served.
 */
import { expectError, REFLECTED } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { postWhoami } from "../support/mcp-client.ts";
import { useHostedHarness, VERIFIER } from "../support/mcp-hosted-harness.ts";
import { PLATFORM_CALLBACK } from "../support/mcp-process.ts";
import { type Answer, type Form, send } from "../support/platform.ts";
import { textMember } from "../support/text-member.ts";

const harness = useHostedHarness();

describe("POST /token", () => {
  const redeem = (members: Form): Promise<Answer> =>
    harness().post("/token", { grant_type: "authorization_code", redirect_uri: PLATFORM_CALLBACK, ...members });

  it("bar#AS-3 bar#AS-6 what the client can mend does not spend the code", async () => {
    const { url, codeVerifier } = await harness().platform.toVendor();
    const code = url.searchParams.get("code") ?? "";
    for (const [members, error] of [
      [{ code_verifier: codeVerifier, redirect_uri: "https://evil.example/" }, "invalid_grant"],
      [{ code_verifier: codeVerifier, redirect_uri: undefined }, "invalid_request"],
      [{ code_verifier: codeVerifier, resource: "https://other.example/mcp" }, "invalid_target"],
      [{}, "invalid_request"],
      [{ code_verifier: codeVerifier.slice(1) }, "invalid_request"],
      [{ code_verifier: `${codeVerifier.slice(0, -1)}é` }, "invalid_request"],
    ] as const) {
      const answer = await redeem({ code, ...members });
      expectError(answer, 400, error);
    }
    expect((await redeem({ code, code_verifier: codeVerifier })).status).toBe(200);
  });

  it("bar#AS-3 another client's verifier gets no tokens, and none from the vendor", async () => {
    const { url } = await harness().platform.toVendor();
    const live = harness().vendor.github.liveTokens();
    expectError(
      await redeem({ code: url.searchParams.get("code") ?? "", code_verifier: VERIFIER }),
      400,
      "invalid_grant",
    );
    expect(harness().vendor.github.liveTokens()).toEqual(live);
  });

  it("bar#AS-4 fifty at the same time get one session, and a replay ends it", async () => {
    const { url, codeVerifier } = await harness().platform.toVendor({ account: "operator" });
    const members = { code: url.searchParams.get("code") ?? "", code_verifier: codeVerifier };
    const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(members)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectError(answer, 400, "invalid_grant");
    expectError(await redeem(members), 400, "invalid_grant");
    const token = textMember(good[0]?.body ?? {}, "access_token");
    expect((await postWhoami(harness().server.mcp, token)).status).toBe(401);
  });

  it("bar#AS-14 twenty refreshes at the same time give one and the same answer; a grandparent ends the family", async () => {
    const first = await harness().platform.connect("operator");
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        harness().post("/token", { grant_type: "refresh_token", refresh_token: first.refreshToken }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${String(body["refresh_token"])}`)).size).toBe(1);
    const second = String(answers[0]?.body["refresh_token"]);
    const third = await harness().platform.refresh(second);
    expectError(
      await harness().post("/token", { grant_type: "refresh_token", refresh_token: first.refreshToken }),
      400,
      "invalid_grant",
    );
    expect((await postWhoami(harness().server.mcp, third.accessToken)).status).toBe(401);
    expectError(
      await harness().post("/token", { grant_type: "refresh_token", refresh_token: third.refreshToken }),
      400,
      "invalid_grant",
    );
  });

  it.each<[string, () => Form, number, string]>([
    [
      "bar#AS-14 an access token for a refresh token",
      () => ({ grant_type: "refresh_token", refresh_token: harness().tokens.accessToken }),
      400,
      "invalid_grant",
    ],
    [
      "bar#AS-14 a wider scope",
      () => ({ grant_type: "refresh_token", refresh_token: harness().tokens.refreshToken, scope: "read:user repo" }),
      400,
      "invalid_scope",
    ],
    [
      "bar#AS-16 another resource at refresh",
      () => ({
        grant_type: "refresh_token",
        refresh_token: harness().tokens.refreshToken,
        resource: "https://other.example",
      }),
      400,
      "invalid_target",
    ],
    [
      "bar#AS-20 another client",
      () => ({ client_id: "another", grant_type: "refresh_token", refresh_token: harness().tokens.refreshToken }),
      401,
      "invalid_client",
    ],
    [
      "bar#AS-20 no client",
      () => ({ client_id: undefined, grant_type: "refresh_token", refresh_token: harness().tokens.refreshToken }),
      400,
      "invalid_request",
    ],
    [
      "bar#AS-20 a secret for a client without one",
      () => ({ client_secret: "x", grant_type: "refresh_token", refresh_token: harness().tokens.refreshToken }),
      401,
      "invalid_client",
    ],
    ["a grant that does not exist", () => ({ grant_type: REFLECTED }), 400, "unsupported_grant_type"],
    [
      "the password of a user",
      () => ({ grant_type: "password", username: "a", password: "b" }),
      400,
      "unsupported_grant_type",
    ],
    [
      "a token of the vendor's to exchange",
      () => ({ grant_type: "urn:ietf:params:oauth:grant-type:token-exchange", subject_token: "gho_x" }),
      400,
      "unsupported_grant_type",
    ],
    ["no grant type", () => ({}), 400, "invalid_request"],
  ])("%s", async (_, members, status, error) => {
    expectError(await harness().post("/token", members()), status, error);
  });

  it("bar#AS-20 repeated parameters, JSON, and credentials in two places are refused", async () => {
    const form = `client_id=platform&grant_type=refresh_token&refresh_token=${harness().tokens.refreshToken}`;
    expectError(await harness().post("/token", `${form}&grant_type=refresh_token`), 400, "invalid_request");
    expectError(
      await harness().post("/token", JSON.stringify({ grant_type: "refresh_token" }), {
        "content-type": "application/json",
      }),
      415,
      "invalid_request",
    );
    const basic = { authorization: `Basic ${Buffer.from("platform:x").toString("base64")}` };
    expectError(await harness().post("/token", form, basic), 401, "invalid_client");
    expectError(await harness().post("/token", `${form}&client_secret=x`, basic), 400, "invalid_request");
    expect((await send(`${harness().server.url}/token?${form}`)).status).toBe(405);
    // The query is not read: without a body there are no parameters.
    expectError(await harness().post(`/token?${form}`, ""), 400, "invalid_request");
  });
});

describe("POST /revoke and /register", () => {
  it("bar#AS-21 an unknown token is 200 and ends nothing", async () => {
    for (const token of [
      "unknown-token",
      `${harness().tokens.accessToken}x`,
      harness().tokens.accessToken.slice(0, -1),
      REFLECTED,
    ]) {
      expect((await harness().post("/revoke", { token })).status).toBe(200);
    }
    expectError(
      await harness().post("/revoke", { client_id: "another", token: harness().tokens.accessToken }),
      401,
      "invalid_client",
    );
  });

  it.each<[string, unknown, string]>([
    ["a foreign redirect URI", { redirect_uris: ["https://evil.example/"] }, "invalid_redirect_uri"],
    ["one of two foreign", { redirect_uris: [PLATFORM_CALLBACK, "https://evil.example/"] }, "invalid_redirect_uri"],
    [
      "a hundred",
      { redirect_uris: Array.from({ length: 100 }, (_, index) => `https://evil.example/${index}`) },
      "invalid_redirect_uri",
    ],
    ["none", { client_name: REFLECTED }, "invalid_redirect_uri"],
    ["an object for a list", { redirect_uris: { 0: PLATFORM_CALLBACK, length: 1 } }, "invalid_redirect_uri"],
    ["a list in a list", { redirect_uris: [[PLATFORM_CALLBACK]] }, "invalid_redirect_uri"],
    ["a list for an object", [{ redirect_uris: [PLATFORM_CALLBACK] }], "invalid_client_metadata"],
    ["null", null, "invalid_client_metadata"],
  ])("bar#AS-11 registration with %s is refused", async (_, metadata, error) => {
    expectError(await harness().postJson("/register", metadata), 400, error);
  });

  it("bar#AS-11 registration stores and repeats nothing that the caller sends", async () => {
    const metadata = {
      redirect_uris: [PLATFORM_CALLBACK],
      client_name: REFLECTED,
      client_id: "mine",
      client_secret: "mine",
      grant_types: ["password"],
    };
    const answer = await harness().postJson("/register", metadata);
    expect([answer.status, answer.text.includes("r3flect"), answer.body]).toEqual([
      201,
      false,
      {
        client_id: "platform",
        redirect_uris: [PLATFORM_CALLBACK],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    ]);
  });
});
