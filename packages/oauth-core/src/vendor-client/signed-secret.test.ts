/** Client secrets that are signed for every request, as the vendor receives and checks them. */
import { generateKeyPairSync } from "node:crypto";
import { type JWTPayload, jwtVerify } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { REFRESH_TOKEN, soundAnswer } from "../testing/network/faulty-vendor.ts";
import { labOfEachTest, NOW } from "../testing/network/vendor-lab.ts";
import { Secret } from "../protocol/secret.ts";
import type { Vendor, VendorCredentials } from "../registry/vendor.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const AUDIENCE = "https://signing.example";
const ENTRY: Partial<Vendor> = {
  tokenEndpointAuthMethod: "client_secret_post",
  clientSecret: { kind: "signed_jwt", audience: AUDIENCE, alg: "ES256", lifetimeSeconds: 300 },
};
const CREDENTIALS: VendorCredentials = {
  id: "shared",
  source: "shared",
  clientId: "com.example.service",
  signingKey: { teamId: "TEAM", keyId: "KEY", privateKey },
};

const lab = labOfEachTest();
beforeEach(() => {
  lab.vendor.answers.set("/token", { body: { access_token: "a", token_type: "bearer" } });
});

const refresh = async (entry: Partial<Vendor> = ENTRY, credentials = CREDENTIALS) =>
  lab.client.refreshTokens(await lab.resolve(entry), credentials, { refreshToken: REFRESH_TOKEN });
const form = () => lab.vendor.received.at(-1)?.form ?? new URLSearchParams();

/** As the vendor does. @throws JOSEError */
async function verify(secret: string | null, currentDate: Date): Promise<JWTPayload> {
  const { payload, protectedHeader } = await jwtVerify(secret ?? "", publicKey, {
    algorithms: ["ES256"],
    issuer: "TEAM",
    subject: "com.example.service",
    audience: AUDIENCE,
    requiredClaims: ["iat", "exp"],
    currentDate,
  });
  expect(protectedHeader).toEqual({ alg: "ES256", kid: "KEY" });
  return payload;
}
const at = (seconds: number): Date => new Date(seconds * 1000);

describe("rfc7519#4.1 a signed client secret", () => {
  it("is in every request that needs one: code, refresh, revocation", async () => {
    const vendor = await lab.resolve({ ...ENTRY, revocationEndpoint: `${lab.vendor.issuer}/revoke` });
    lab.vendor.answers.set("/revoke", { body: {} });
    const request = { ...lab.request, nonce: undefined, scope: [] };
    const { nonce: _none, ...code } = request;
    await lab.client.redeemCode(vendor, CREDENTIALS, code);
    await verify(form().get("client_secret"), at(NOW));
    await lab.client.refreshTokens(vendor, CREDENTIALS, { refreshToken: REFRESH_TOKEN });
    await verify(form().get("client_secret"), at(NOW));
    await lab.client.revokeToken(vendor, CREDENTIALS, { token: REFRESH_TOKEN });
    await verify(form().get("client_secret"), at(NOW));
    expect(form().get("client_id")).toBe("com.example.service");
    expect(lab.vendor.received.at(-1)?.headers).not.toHaveProperty("authorization");
  });

  it("lives as long as the entry says, by our clock, and is made anew for the next request", async () => {
    await refresh();
    const first = form().get("client_secret");
    expect(await verify(first, at(NOW))).toMatchObject({ iat: NOW, exp: NOW + 300 });
    await expect(verify(first, at(NOW + 301))).rejects.toMatchObject({ code: "ERR_JWT_EXPIRED" });
    lab.clock.advance(301);
    await refresh();
    expect(form().get("client_secret")).not.toBe(first);
    await verify(form().get("client_secret"), at(NOW + 301));
  });

  it("travels as Basic where the entry says Basic", async () => {
    await refresh({ ...ENTRY, tokenEndpointAuthMethod: "client_secret_basic" });
    const [scheme, value = ""] = lab.vendor.received.at(-1)?.headers.authorization?.split(" ") ?? [];
    const [clientId, secret = ""] = Buffer.from(value, "base64").toString().split(":");
    expect([scheme, clientId]).toEqual(["Basic", "com.example.service"]);
    await verify(decodeURIComponent(secret), at(NOW));
    expect(form().has("client_secret")).toBe(false);
  });

  it("of a caller's own making is sent as it is", async () => {
    const own: VendorCredentials = {
      id: "byoc",
      source: "byoc",
      clientId: "theirs",
      clientSecret: new Secret("their.own.jwt"),
    };
    await refresh(ENTRY, own);
    expect(form().get("client_secret")).toBe("their.own.jwt");
  });

  it("is not used at a vendor with plain secrets", async () => {
    lab.vendor.answers.set("/token", { body: soundAnswer() });
    await refresh({ tokenEndpointAuthMethod: "client_secret_post" });
    expect(form().has("client_secret")).toBe(false);
  });
});
