/** How we prove to a vendor who we are, as it receives and checks that. */
import { createHash, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { type JWTVerifyResult, jwtVerify } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { Secret } from "../protocol/secret.ts";
import type { Vendor, VendorCredentials } from "../registry/vendor.ts";
import { createTestAuthority } from "../testing/network/certificates.ts";
import { type Received, REFRESH_TOKEN } from "../testing/network/faulty-vendor.ts";
import { labOfEachTest, NOW } from "../testing/network/vendor-lab.ts";

const lab = labOfEachTest();
beforeEach(() => {
  for (const path of ["/token", "/refresh"])
    lab.vendor.answers.set(path, { body: { access_token: "a", token_type: "bearer" } });
});

const received = (): Received => lab.vendor.received.at(-1) ?? expect.fail("nothing was sent");
/** @returns what the vendor received */
const refresh = async (entry: Partial<Vendor>, credentials: VendorCredentials): Promise<Received> => {
  await lab.client.refreshTokens(await lab.resolve(entry), credentials, { refreshToken: REFRESH_TOKEN });
  return received();
};
const shared = (clientId: string, proof: Partial<VendorCredentials> = {}): VendorCredentials => ({
  id: "1",
  source: "shared",
  clientId,
  ...proof,
});
const withSecret = (clientId: string, secret: string): VendorCredentials =>
  shared(clientId, { clientSecret: new Secret(secret) });
const basicOf = ({ headers }: Received): string[] =>
  Buffer.from(headers.authorization?.replace("Basic ", "") ?? "", "base64")
    .toString()
    .split(":");

/** As the vendor does. @throws JOSEError */
async function verify(jwt: string | null, key: KeyObject, audience: string, seconds = NOW): Promise<JWTVerifyResult> {
  const currentDate = new Date(seconds * 1000);
  return jwtVerify(jwt ?? "", key, { audience, requiredClaims: ["exp"], currentDate });
}

describe("client authentication", () => {
  it.each([
    ["plain", "client", "secret"],
    ["colons", "a:b", "c:d"],
    ["percent and plus", "a%2Fb", "c+d e"],
    ["ampersand and equals", "a&b=c", "d&e=f"],
    ["not ASCII", "kunde-ü", "schlüssel-\u{1f511}"],
  ])("rfc6749#2.3.1 bar#VR-4 by Basic form-encodes id and secret: %s", async (_title, clientId, secret) => {
    const request = await refresh({}, withSecret(clientId, secret));
    expect(basicOf(request).map((part) => new URLSearchParams(`v=${part}`).get("v"))).toEqual([clientId, secret]);
    expect(request.body + request.path).not.toContain("client_secret");
  });

  it("bar#VR-4 by Basic leaves alone what needs no encoding, for vendors that do not decode", async () => {
    const request = await refresh({}, withSecret("12-ab.apps_x*", "GO_CS-PX.1"));
    expect(basicOf(request)).toEqual(["12-ab.apps_x*", "GO_CS-PX.1"]);
  });

  it("bar#VR-4 by post puts them in the body and nowhere else", async () => {
    const entry = { tokenEndpointAuthMethod: "client_secret_post" } as const;
    const { headers, form, path } = await refresh(entry, withSecret("client", "s&t"));
    expect(headers).not.toHaveProperty("authorization");
    expect([form.get("client_secret"), path]).toEqual(["s&t", "/token"]);
  });

  it.each(["client_secret_basic", "client_secret_post", "none"] as const)(
    "of a public client is its id alone, for the entry's method %s",
    async (tokenEndpointAuthMethod) => {
      const { headers, form } = await refresh({ tokenEndpointAuthMethod }, shared("client"));
      expect(headers).not.toHaveProperty("authorization");
      expect([form.get("client_id"), form.has("client_secret")]).toEqual(["client", false]);
    },
  );
});

describe("rfc7519#4.1 a signed client secret", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const AUDIENCE = "https://signing.example";
  const ENTRY: Partial<Vendor> = {
    tokenEndpointAuthMethod: "client_secret_post",
    clientSecret: { kind: "signed_jwt", audience: AUDIENCE, alg: "ES256", lifetimeSeconds: 300 },
  };
  const CREDENTIALS = shared("com.example.service", { signingKey: { teamId: "TEAM", keyId: "KEY", privateKey } });
  const secretOf = ({ form }: Received): string | null => form.get("client_secret");
  const expectSigned = async (secret: string | null, at = NOW): Promise<void> => {
    const { payload, protectedHeader } = await verify(secret, publicKey, AUDIENCE, at);
    expect(payload).toMatchObject({ iss: "TEAM", sub: "com.example.service", iat: at, exp: at + 300 });
    expect(protectedHeader).toEqual({ alg: "ES256", kid: "KEY" });
  };

  it("is in every request that needs one: code, refresh, revocation", async () => {
    const vendor = await lab.resolve(ENTRY);
    const { nonce: _none, ...code } = { ...lab.request, scope: [] };
    await lab.client.redeemCode(vendor, CREDENTIALS, code);
    await expectSigned(secretOf(received()));
    await expectSigned(secretOf(await refresh(ENTRY, CREDENTIALS)));
    await lab.client.revokeToken(vendor, CREDENTIALS, { token: REFRESH_TOKEN });
    const { headers, form, path } = received();
    await expectSigned(form.get("client_secret"));
    expect([path, form.get("client_id")]).toEqual(["/revoke", "com.example.service"]);
    expect(headers).not.toHaveProperty("authorization");
  });

  it("lives as long as the entry says, by our clock, and is another in the next request", async () => {
    const first = secretOf(await refresh(ENTRY, CREDENTIALS));
    await expectSigned(first);
    await expect(verify(first, publicKey, AUDIENCE, NOW + 301)).rejects.toMatchObject({ code: "ERR_JWT_EXPIRED" });
    lab.clock.advance(301);
    const second = secretOf(await refresh(ENTRY, CREDENTIALS));
    expect(second).not.toBe(first);
    await expectSigned(second, NOW + 301);
  });

  it("travels as Basic where the entry says Basic", async () => {
    const request = await refresh({ ...ENTRY, tokenEndpointAuthMethod: "client_secret_basic" }, CREDENTIALS);
    const [clientId, secret = ""] = basicOf(request);
    expect(clientId).toBe("com.example.service");
    await expectSigned(decodeURIComponent(secret));
    expect(request.form.has("client_secret")).toBe(false);
  });

  it("of a caller's own making is sent as it is", async () => {
    expect(secretOf(await refresh(ENTRY, withSecret("theirs", "their.own.jwt")))).toBe("their.own.jwt");
  });

  it("is not used at a vendor with plain secrets", async () => {
    expect(secretOf(await refresh({ tokenEndpointAuthMethod: "client_secret_post" }, CREDENTIALS))).toBeNull();
  });
});

describe("rfc7523#3 rfc7515#4.1.8 a certificate in place of a secret", () => {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { cert } = createTestAuthority().issue(["app.example"], undefined, keys);
  const thumbprint = createHash("sha256").update(new X509Certificate(cert).raw).digest("base64url");
  const ENTRY: Partial<Vendor> = { tokenEndpointAuthMethod: "client_secret_post", clientAssertion: { alg: "PS256" } };
  const CREDENTIALS = shared("app", { certificate: { privateKey: keys.privateKey, thumbprint } });

  /** @returns its `jti` */
  async function expectAsserted({ form, path }: Received): Promise<unknown> {
    expect(form.get("client_assertion_type")).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    const jwt = form.get("client_assertion");
    const { payload, protectedHeader } = await verify(jwt, keys.publicKey, lab.vendor.issuer + path);
    expect(protectedHeader).toEqual({ alg: "PS256", typ: "JWT", "x5t#S256": thumbprint });
    expect(payload).toMatchObject({ iss: "app", sub: "app", jti: expect.any(String), exp: NOW + 60 });
    return payload.jti;
  }

  it("signs for the endpoint that is asked, by our clock, with a jti of its own each time", async () => {
    const { nonce: _none, ...code } = { ...lab.request, scope: [] };
    await lab.client.redeemCode(await lab.resolve(ENTRY), CREDENTIALS, code);
    const first = await expectAsserted(received());
    const request = await refresh({ ...ENTRY, refreshEndpoint: `${lab.vendor.issuer}/refresh` }, CREDENTIALS);
    expect(request.path).toBe("/refresh");
    expect(await expectAsserted(request)).not.toBe(first);
    expect([request.form.get("client_id"), request.form.has("client_secret")]).toEqual(["app", false]);
  });

  it("sends a caller's own secret unchanged", async () => {
    const { form } = await refresh(ENTRY, withSecret("theirs", "their-secret"));
    expect([form.get("client_secret"), form.has("client_assertion")]).toEqual(["their-secret", false]);
  });
});
