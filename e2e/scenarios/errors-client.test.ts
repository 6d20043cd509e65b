/**
 * Client authentication: the three methods, and every way to fail at them. The endpoint does not
 * matter.
 */
import { randomUUID } from "node:crypto";
import { SignJWT, UnsecuredJWT } from "jose";
import { expectError, REFLECTED } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClientKeys, createClientKeys } from "../support/client-keys.ts";
import { REDIRECT_URI } from "../support/configuration.ts";
import { type Answer, basic, challengeOf, encode, type Form, send } from "../support/platform.ts";
import { plantSecret } from "../support/secrets.ts";
import { type Harness, startHarness } from "../support/harness.ts";

const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/** The characters that form-encoding and Basic commonly get wrong. */
const ODD_SECRET = 'a:b c%2Fd+e/f?g&h=i"j-and-the-rest-of-it';

let harness: Harness;
let keys: ClientKeys;
let foreignKeys: ClientKeys;

beforeAll(async () => {
  keys = await createClientKeys("first");
  foreignKeys = await createClientKeys("first");
  plantSecret("odd secret", ODD_SECRET);
  harness = await startHarness({
    clients: `  - { client_id: keyed, jwks: ${keys.jwks}, redirect_uris: [${REDIRECT_URI}] }
  - { client_id: odd, client_secret: '${ODD_SECRET}', redirect_uris: [${REDIRECT_URI}] }
  - { client_id: rotating, client_secret: [the-old-secret-of-rotating-0001, the-new-secret-of-rotating-0002], redirect_uris: [${REDIRECT_URI}] }`,
  });
});

afterAll(() => harness.close());

async function par(clientId: string, form: Form, headers: Record<string, string> = {}): Promise<Answer> {
  const body = encode({
    client_id: clientId,
    response_type: "code",
    vendor: "op",
    redirect_uri: REDIRECT_URI,
    code_challenge: challengeOf("v".repeat(43)),
    code_challenge_method: "S256",
    ...form,
  });
  return send(`${harness.baseUrl}/v1/par`, { method: "POST", headers, body });
}

interface Assertion {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: CryptoKey | Uint8Array;
  readonly header?: Readonly<Record<string, string>>;
}

async function assertion({ claims = {}, key = keys.privateKey, header = {} }: Assertion = {}): Promise<string> {
  const at = harness.now();
  const payload = {
    iss: "keyed",
    sub: "keyed",
    aud: harness.baseUrl,
    jti: randomUUID(),
    iat: at,
    exp: at + 60,
    ...claims,
  };
  const signed = await new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: "first", ...header }).sign(key);
  plantSecret("assertion", signed);
  return signed;
}

const asserted = async (value: Promise<string>, form: Form = {}): Promise<Answer> =>
  par("keyed", { client_assertion_type: JWT_BEARER, client_assertion: await value, ...form });

describe("client_secret_basic and client_secret_post", () => {
  it("rfc6749#2.3.1 takes a secret with every awkward character, form-encoded in Basic", async () => {
    expect((await par("odd", {}, { authorization: basic("odd", ODD_SECRET) })).status).toBe(201);
    expect((await par("odd", { client_secret: ODD_SECRET })).status).toBe(201);
  });

  it("takes the old secret and the new one while they rotate", async () => {
    for (const client_secret of ["the-old-secret-of-rotating-0001", "the-new-secret-of-rotating-0002"]) {
      expect((await par("rotating", { client_secret })).status).toBe(201);
    }
  });

  it.each<[string, string, Form, Record<string, string>]>([
    ["refuses no credentials", "platform", {}, {}],
    ["refuses a wrong secret", "platform", {}, { authorization: basic("platform", REFLECTED) }],
    ["refuses a wrong posted secret", "platform", { client_secret: REFLECTED }, {}],
    ["refuses an unknown client", "r3flect", {}, { authorization: basic("r3flect", "x".repeat(43)) }],
    [
      "refuses a client that has keys and no secret",
      "keyed",
      { client_secret: "" },
      { authorization: basic("keyed", "") },
    ],
    ["refuses a bearer token", "platform", {}, { authorization: "Bearer r3flect" }],
    ["bar#HT-4 refuses Basic that is no base64", "platform", {}, { authorization: "Basic r3flect!!" }],
    ["bar#HT-4 refuses Basic without a colon", "platform", {}, { authorization: `Basic ${btoa("r3flect")}` }],
    [
      "bar#HT-4 refuses Basic with broken escapes",
      "platform",
      {},
      { authorization: `Basic ${btoa("platform:%E0%A4")}` },
    ],
    ["bar#HT-4 refuses Bearer with broken escapes", "platform", {}, { authorization: "Bearer %E0%A4" }],
  ])("%s", async (_, clientId, form, headers) => {
    expectError(await par(clientId, form, headers), 401, "invalid_client");
  });

  it("bar#ST-1 answers the same whether the client or the secret is wrong", async () => {
    const unknown = await par("unknown", {}, { authorization: basic("unknown", "x".repeat(43)) });
    const wrong = await par("platform", {}, { authorization: basic("platform", "x".repeat(43)) });
    expect(unknown.text).toBe(wrong.text);
    expect(unknown.headers.get("www-authenticate")).toBe(wrong.headers.get("www-authenticate"));
    expect(wrong.headers.get("www-authenticate")).toMatch(/^Basic realm="/);
  });

  it("rfc6749#2.3 refuses two methods at once, and credentials of another client than client_id names", async () => {
    const authorization = basic("platform", harness.secrets.platform);
    expectError(
      await par("platform", { client_secret: harness.secrets.platform }, { authorization }),
      400,
      "invalid_request",
    );
    expectError(await par("other", {}, { authorization }), 400, "invalid_request");
  });
});

describe("private_key_jwt", () => {
  it("rfc7523#3 takes an assertion once, and not again", async () => {
    const value = assertion();
    expect((await asserted(value)).status).toBe(201);
    expectError(await asserted(value), 401, "invalid_client");
  });

  it("takes one that is 10 s ahead or behind", async () => {
    const at = harness.now();
    expect((await asserted(assertion({ claims: { iat: at + 9, exp: at + 69 } }))).status).toBe(201);
    expect((await asserted(assertion({ claims: { iat: at - 65, exp: at - 9 } }))).status).toBe(201);
  });

  it.each<[string, (at: number) => Assertion]>([
    ["bar#VR-6 refuses a list as aud", () => ({ claims: { aud: [harness.baseUrl] } })],
    ["bar#VR-6 refuses the token endpoint as aud", () => ({ claims: { aud: `${harness.baseUrl}/v1/token` } })],
    ["bar#VR-6 refuses aud with a trailing slash", () => ({ claims: { aud: `${harness.baseUrl}/` } })],
    ["refuses no aud", () => ({ claims: { aud: undefined } })],
    ["refuses a life over 60 s", (at) => ({ claims: { exp: at + 61 } })],
    ["refuses one that has expired", (at) => ({ claims: { iat: at - 90, exp: at - 30 } })],
    ["refuses one from the future", (at) => ({ claims: { iat: at + 30, exp: at + 80 } })],
    ["refuses one without exp", () => ({ claims: { exp: undefined } })],
    ["refuses one without iat", () => ({ claims: { iat: undefined } })],
    ["refuses one without jti", () => ({ claims: { jti: undefined } })],
    ["refuses a jti that is a number", () => ({ claims: { jti: 7 } })],
    ["refuses another issuer", () => ({ claims: { iss: "platform" } })],
    ["refuses another subject", () => ({ claims: { sub: "platform" } })],
    ["bar#ID-3 refuses another key under the same kid", () => ({ key: foreignKeys.privateKey })],
    [
      "refuses HS256 with the public key as secret",
      () => ({ key: new TextEncoder().encode(keys.jwks), header: { alg: "HS256" } }),
    ],
  ])("%s", async (_, make) => {
    expectError(await asserted(assertion(make(harness.now()))), 401, "invalid_client");
  });

  it("refuses one that is not signed, is not a JWT, or has another type", async () => {
    const unsigned = new UnsecuredJWT({ iss: "keyed", sub: "keyed", aud: harness.baseUrl, jti: randomUUID() })
      .setIssuedAt(harness.now())
      .setExpirationTime(harness.now() + 30)
      .encode();
    expectError(await asserted(Promise.resolve(unsigned)), 401, "invalid_client");
    expectError(await asserted(Promise.resolve("r3flect")), 401, "invalid_client");
    expectError(await asserted(Promise.resolve("r3.fle.ct")), 401, "invalid_client");
    expectError(await asserted(assertion(), { client_assertion_type: "urn:r3flect" }), 401, "invalid_client");
  });

  it("refuses an assertion beside another client_id, and beside a secret", async () => {
    expectError(await asserted(assertion(), { client_id: "platform" }), 401, "invalid_client");
    expectError(await asserted(assertion(), { client_secret: "x" }), 400, "invalid_request");
  });
});
