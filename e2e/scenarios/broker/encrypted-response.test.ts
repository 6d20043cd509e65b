/**
 * Token answers as JWEs, opened as a client opens them. Each algorithm, and sets of keys that change:
 * authorization-server/encrypted-response.test.ts; keys that cannot be read: encrypted-response.attack.test.ts.
 */
import { exportJWK, generateKeyPair, jwtDecrypt } from "jose";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { REDIRECT_URI } from "../../support/broker/configuration.ts";
import { type Answer, createPlatform, type Platform } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";
import { startHarness } from "../../support/broker/harness.ts";
import { textMember } from "../../support/text-member.ts";

const SECRET = "the-secret-of-all-clients-of-this-file-01";

/** Opens it as a client that trusts only its registration. */
async function open({ text }: Answer): Promise<Answer["body"]> {
  const { payload } = await jwtDecrypt(text, opening.privateKey, {
    keyManagementAlgorithms: ["ECDH-ES"],
    contentEncryptionAlgorithms: ["A256GCM"],
    typ: "JWT",
  });
  for (const name of ["access_token", "refresh_token", "connection"]) plantSecret(name, textMember(payload, name));
  return payload;
}

function expectJwe({ status, headers, text }: Answer): void {
  expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
    200,
    "application/jwt",
    "no-store",
  ]);
  expect(text).toMatch(/^[\w-]+(?:\.[\w-]*){4}$/);
}

let opening: Awaited<ReturnType<typeof generateKeyPair>>;
const harness = shared(async () => {
  opening = await generateKeyPair("ECDH-ES", { extractable: true });
  plantSecret("client secret", SECRET);
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(opening.publicKey)), use: "enc" }] });
  return startHarness({
    clients: `  - { client_id: secret, client_secret: ${SECRET}, redirect_uris: [${REDIRECT_URI}], token_encrypted_response_alg: ECDH-ES, jwks: ${keys} }`,
  });
});
const sealed = (): Platform => createPlatform({ baseUrl: harness.baseUrl, clientId: "secret", clientSecret: SECRET });

describe("a client with a secret and a key for its answers", () => {
  it("bar#RF-1 gets a JWE for each of ten refreshes at once, all of one vendor call", async () => {
    const platform = sealed();
    const tokens = await open(await platform.redeem(await platform.toPlatform()));
    const grant = { refreshToken: textMember(tokens, "refresh_token"), connection: textMember(tokens, "connection") };
    const before = harness.vendorCalls("/token");
    const answers = await Promise.all(Array.from({ length: 10 }, async () => platform.refresh(grant)));
    expect(harness.vendorCalls("/token") - before).toBe(1);
    for (const answer of answers) expectJwe(answer);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(10);
    const opened = await Promise.all(answers.map(async (answer) => open(answer)));
    expect(new Set(opened.map((one) => one["access_token"])).size).toBe(1);
  });

  it("is refused, explained, checked and revoked in plain JSON: no token is in there", async () => {
    const platform = sealed();
    const flow = await platform.toPlatform();
    expectError(await platform.redeem(flow, { redirect_uri: "https://elsewhere.example/" }), 400, "invalid_grant");
    expectError(await platform.post("/v1/token", { grant_type: "password" }), 400, "unsupported_grant_type");
    const tokens = await open(await platform.redeem(flow));
    const connection = String(tokens["connection"]);
    const explained = await platform.post("/v1/explain", { connection });
    const token = { access_token: String(tokens["access_token"]), connection };
    const checked = await platform.post("/v1/check", token);
    const revoked = await platform.post("/v1/revoke", { token: String(tokens["refresh_token"]), connection });
    for (const { status, headers } of [explained, checked, revoked]) {
      expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    }
  });

  it("leaves the answers of others as they are", async () => {
    const { answer } = await harness.platform.connect();
    expect(answer.headers.get("content-type")).toBe("application/json");
  });
});
