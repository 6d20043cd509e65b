/**
 * Token answers as JWEs, opened as a client opens them, for each way in which a client can publish
 * its key. Each algorithm, and sets of keys that change: authorization-server/encrypted-response.test.ts.
 */
import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK, jwtDecrypt, SignJWT } from "jose";
import { expectError } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ClientKeys,
  createClientKeys,
  type PublishedKeys,
  publishKeys,
} from "../../support/broker/client-keys.ts";
import { REDIRECT_URI } from "../../support/broker/configuration.ts";
import { type Answer, createPlatform, encode, type Form, type Platform, send } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";
import { type Harness, startHarness } from "../../support/broker/harness.ts";
import { textMember } from "../../support/text-member.ts";

const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const SECRET = "the-secret-of-all-clients-of-this-file-01";

interface Registered {
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

async function register(): Promise<Registered> {
  const { publicKey, privateKey } = await generateKeyPair("ECDH-ES", { extractable: true });
  return { jwk: { ...(await exportJWK(publicKey)), use: "enc", kid: randomUUID() }, privateKey };
}

const setOf = (...keys: (JWK | Registered)[]): string =>
  JSON.stringify({ keys: keys.map((key) => ("jwk" in key ? key.jwk : key)) });

/** Opens it as a client that trusts only its registration. */
async function open({ text }: Pick<Answer, "text">, { privateKey }: Registered): Promise<Answer["body"]> {
  const { payload } = await jwtDecrypt(text, privateKey, {
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

let harness: Harness;
let published: PublishedKeys;
let signing: ClientKeys;
let registered: Record<"secret" | "keyed" | "elsewhere", Registered>;
const platformOf = (clientId: string): Platform =>
  createPlatform({ baseUrl: harness.baseUrl, clientId, clientSecret: SECRET });

beforeAll(async () => {
  registered = { secret: await register(), keyed: await register(), elsewhere: await register() };
  signing = await createClientKeys("signing");
  published = await publishKeys(setOf(registered.elsewhere));
  plantSecret("client secret", SECRET);
  const client = (id: string, more: string): string =>
    `  - { client_id: ${id}, redirect_uris: [${REDIRECT_URI}], token_encrypted_response_alg: ECDH-ES, ${more} }`;
  const withSigning = (key: Registered): string => `jwks: ${setOf(...keysOf(signing), key)}`;
  harness = await startHarness({
    clients: [
      client("secret", `client_secret: ${SECRET}, ${withSigning(registered.secret)}`),
      client("keyed", withSigning(registered.keyed)),
      client("elsewhere", `client_secret: ${SECRET}, jwks_uri: "${published.jwksUri}"`),
    ].join("\n"),
  });
});

afterAll(async () => {
  await harness.close();
  await published.close();
});

function keysOf({ jwks }: ClientKeys): JWK[] {
  return (JSON.parse(jwks) as { keys: JWK[] }).keys;
}

describe("a client with a secret and a key for its answers", () => {
  it("bar#RF-1 gets a JWE for each of ten refreshes at once, all of one vendor call", async () => {
    const platform = platformOf("secret");
    const tokens = await open(await platform.redeem(await platform.toPlatform()), registered.secret);
    const before = harness.vendorCalls("/token");
    const answers = await Promise.all(Array.from({ length: 10 }, async () => refresh(platform, tokens)));
    expect(harness.vendorCalls("/token") - before).toBe(1);
    for (const answer of answers) expectJwe(answer);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(10);
    const opened = await Promise.all(answers.map(async (answer) => open(answer, registered.secret)));
    expect(new Set(opened.map((one) => one["access_token"])).size).toBe(1);
  });

  it("is refused, explained, checked and revoked in plain JSON: no token is in there", async () => {
    const platform = platformOf("secret");
    const flow = await platform.toPlatform();
    expectError(await platform.redeem(flow, { redirect_uri: "https://elsewhere.example/" }), 400, "invalid_grant");
    expectError(await platform.post("/v1/token", { grant_type: "password" }), 400, "unsupported_grant_type");
    const tokens = await open(await platform.redeem(flow), registered.secret);
    const connection = String(tokens["connection"]);
    const explained = await platform.post("/v1/explain", { connection });
    const token = { access_token: String(tokens["access_token"]), connection };
    const checked = await platform.post("/v1/check", token);
    const revoked = await platform.post("/v1/revoke", { token: String(tokens["refresh_token"]), connection });
    for (const { status, headers } of [explained, checked, revoked]) {
      expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    }
  });

  it("does not authenticate with that key set: it has a secret", async () => {
    const answer = await postAsserted("secret", { grant_type: "refresh_token", refresh_token: "x" });
    expectError(answer, 401, "invalid_client");
  });

  it("leaves the answers of others as they are", async () => {
    const { answer } = await harness.platform.connect();
    expect(answer.headers.get("content-type")).toBe("application/json");
  });
});

describe("a client with keys alone", () => {
  it("signs with one and opens with the other", async () => {
    const { refreshToken } = await harness.platform.connect();
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, vendor: "op" };
    const answer = await postAsserted("keyed", form);
    expectJwe(answer);
    expect(await open(answer, registered.keyed)).toMatchObject({ vendor: "op" });
  });
});

describe("a client that publishes its keys", () => {
  const toPlatform = async () => platformOf("elsewhere").toPlatform();
  const redeem = async (flow: Awaited<ReturnType<typeof toPlatform>>) => platformOf("elsewhere").redeem(flow);

  it("gets an error that they cannot be read, and the code still works", async () => {
    published.publish();
    const flow = await toPlatform();
    const before = harness.vendorCalls("/token");
    const refused = await redeem(flow);
    expectError(refused, 503, "temporarily_unavailable");
    expect(refused.body).toMatchObject({ reason: "client_keys_unavailable", flow_id: flow.flowId });
    expect(refused.body).not.toHaveProperty("retry");
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(harness.vendorCalls("/token")).toBe(before);
    published.publish(setOf(registered.elsewhere));
    expect(await open(await redeem(flow), registered.elsewhere)).toMatchObject({ vendor: "op" });
  });
});

async function refresh(platform: Platform, tokens: Answer["body"]): Promise<Answer> {
  return platform.post("/v1/token", {
    grant_type: "refresh_token",
    refresh_token: String(tokens["refresh_token"]),
    connection: String(tokens["connection"]),
  });
}

/** With a client assertion signed by the `signing` key. */
async function postAsserted(clientId: string, form: Form): Promise<Answer> {
  const at = harness.now();
  const claims = { iss: clientId, sub: clientId, aud: harness.baseUrl, jti: randomUUID(), iat: at, exp: at + 60 };
  const header = { alg: "ES256", kid: signing.kid };
  const assertion = await new SignJWT(claims).setProtectedHeader(header).sign(signing.privateKey);
  const body = encode({ ...form, client_assertion_type: JWT_BEARER, client_assertion: assertion });
  return send(`${harness.baseUrl}/v1/token`, { method: "POST", body });
}
