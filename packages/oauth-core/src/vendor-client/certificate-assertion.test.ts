/** private_key_jwt with a certificate, as the vendor receives and checks it. */
import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { type JWTPayload, jwtVerify } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { Secret } from "../protocol/secret.ts";
import { createTestAuthority } from "../testing/network/certificates.ts";
import { REFRESH_TOKEN } from "../testing/network/faulty-vendor.ts";
import { labOfEachTest, NOW } from "../testing/network/vendor-lab.ts";
import type { Vendor, VendorCredentials } from "../registry/vendor.ts";

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const { cert } = createTestAuthority().issue(["app.example"], undefined, keys);
const THUMBPRINT = createHash("sha256").update(new X509Certificate(cert).raw).digest("base64url");
const ENTRY: Partial<Vendor> = { tokenEndpointAuthMethod: "client_secret_post", clientAssertion: { alg: "PS256" } };
const CREDENTIALS: VendorCredentials = {
  id: "shared",
  source: "shared",
  clientId: "app",
  certificate: { privateKey: keys.privateKey, thumbprint: THUMBPRINT },
};

const lab = labOfEachTest();
beforeEach(() => {
  for (const path of ["/token", "/refresh"]) {
    lab.vendor.answers.set(path, { body: { access_token: "a", token_type: "bearer" } });
  }
});

const refresh = async (entry: Partial<Vendor> = ENTRY, credentials = CREDENTIALS) =>
  lab.client.refreshTokens(await lab.resolve(entry), credentials, { refreshToken: REFRESH_TOKEN });
const form = () => lab.vendor.received.at(-1)?.form ?? new URLSearchParams();

/** As the vendor does. @throws JOSEError */
async function verify(audience: string): Promise<JWTPayload> {
  expect(form().get("client_assertion_type")).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  const { payload, protectedHeader } = await jwtVerify(form().get("client_assertion") ?? "", keys.publicKey, {
    algorithms: ["PS256"],
    issuer: "app",
    subject: "app",
    audience,
    requiredClaims: ["jti", "exp"],
    currentDate: new Date(NOW * 1000),
  });
  expect(protectedHeader).toEqual({ alg: "PS256", typ: "JWT", "x5t#S256": THUMBPRINT });
  return payload;
}

describe("rfc7523#3 rfc7515#4.1.8 a certificate in place of a secret", () => {
  it("signs for the endpoint that is asked, by our clock, with a jti of its own each time", async () => {
    const { nonce: _none, ...request } = { ...lab.request, scope: [] };
    await lab.client.redeemCode(await lab.resolve(ENTRY), CREDENTIALS, request);
    const first = await verify(`${lab.vendor.issuer}/token`);
    expect(first.exp).toBe(NOW + 60);
    await refresh({ ...ENTRY, refreshEndpoint: `${lab.vendor.issuer}/refresh` });
    const second = await verify(`${lab.vendor.issuer}/refresh`);
    expect(second.jti).not.toBe(first.jti);
    expect(form().get("client_id")).toBe("app");
    expect(form().has("client_secret")).toBe(false);
  });

  it("sends a caller's own secret unchanged", async () => {
    await refresh(ENTRY, { id: "byoc", source: "byoc", clientId: "theirs", clientSecret: new Secret("their-secret") });
    expect(form().get("client_secret")).toBe("their-secret");
    expect(form().has("client_assertion")).toBe(false);
  });
});
