/**
 * An MCP backend on @oauth-broker/broker-client, against the broker and a real OpenID provider: what
 * a client does there alone. Beside `direct`: broker-client-contract.test.ts.
 */
import { type BrokerClient, createBrokerClient, type Tokens } from "@oauth-broker/broker-client";
import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClientKeys, createClientKeys } from "../../support/broker/client-keys.ts";
import { REDIRECT_URI, SCOPE } from "../../support/broker/configuration.ts";
import { consent, expectFresh, plantTokens } from "../../support/connect-client/harness.ts";
import { type Harness, startHarness } from "../../support/broker/harness.ts";
import { random } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";

let harness: Harness;
let keys: ClientKeys;
let opening: Awaited<ReturnType<typeof generateKeyPair>>;
let client: BrokerClient;
let keyed: BrokerClient;

const IAT = random("initial access token");
const request = { vendor: "op", scope: SCOPE };
const common = () => ({ issuer: harness.baseUrl, redirectUri: REDIRECT_URI, now: harness.now });

beforeAll(async () => {
  keys = await createClientKeys("first");
  opening = await generateKeyPair("ECDH-ES", { extractable: true });
  const encryptionKeys = JSON.stringify({ keys: [{ ...(await exportJWK(opening.publicKey)), use: "enc" }] });
  harness = await startHarness(
    (issuer, secrets) => ({
      clients: `  - { client_id: keyed, jwks: ${keys.jwks}, redirect_uris: [${REDIRECT_URI}] }
  - { client_id: sealed, client_secret: ${secrets.other}, redirect_uris: [${REDIRECT_URI}], token_encrypted_response_alg: ECDH-ES, jwks: ${encryptionKeys} }`,
      vendors: `  gated: { name: Gated, issuer: "${issuer}", initial_access_token: ${IAT} }`,
    }),
    { registration: { initialAccessToken: IAT } },
  );
  client = createBrokerClient({ ...common(), clientId: "platform", clientSecret: harness.secrets.platform });
  keyed = createBrokerClient({ ...common(), clientId: "keyed", privateKey: { key: keys.privateKey, kid: keys.kid } });
});
afterAll(() => harness.close());

async function connect(by: BrokerClient): Promise<Tokens> {
  const { url, session } = await by.start(request);
  plantSecret("verifier in the session", session.codeVerifier);
  return plantTokens(await by.finish(await consent(url), session));
}

it("a backend with private_key_jwt connects, refreshes and revokes", async () => {
  const { refreshToken, connection, ...tokens } = await connect(keyed);
  expect(tokens).toMatchObject({ vendor: "op", expiresAt: harness.now() + 3600 });
  const { accessToken: token, connection: newer } = expectFresh(await keyed.refresh({ refreshToken, connection }));
  expect(await keyed.revoke({ token, connection: newer })).toMatchObject({ outcome: "revoked" });
});

describe("a client of the user's own at the vendor", () => {
  it("is registered through the broker, then used as BYOC until it is revoked", async () => {
    const { status, contentType, body } = await client.register("op", { initialAccessToken: IAT });
    expect([status, contentType]).toEqual([201, expect.stringContaining("application/json")]);
    const registered = JSON.parse(new TextDecoder().decode(body)) as Record<"client_id" | "client_secret", string>;
    plantSecret("registered secret", registered.client_secret);
    expect(registered).toMatchObject({
      client_name: "OAuth broker",
      redirect_uris: [`${harness.baseUrl}/v1/callback`],
      token_endpoint_auth_method: "client_secret_basic",
      scope: "openid api:read",
    });
    const byoc = { clientId: registered.client_id, clientSecret: registered.client_secret };

    const { url, session } = await client.start({ ...request, scope: "openid api:read", byoc });
    const { refreshToken = "", connection } = plantTokens(await client.finish(await consent(url), session));
    // The caller has to bring the secret, because the broker did not keep it.
    await expect(client.refresh({ refreshToken, connection })).rejects.toMatchObject({ code: "invalid_request" });
    const refreshed = expectFresh(await client.refresh({ refreshToken, connection, byoc }));
    const { accessToken: token, connection: newer, refreshToken: next = "" } = refreshed;
    // As after the owner changed the secret at the vendor without a change here.
    const stale = { clientId: byoc.clientId, clientSecret: "a-secret-from-last-year" };
    expect(await client.refresh({ refreshToken: next, connection: newer, byoc: stale })).toEqual({
      outcome: "credentials_rejected",
      source: "byoc",
      error: expect.objectContaining({ code: "vendor_credentials_rejected" }),
    });
    expect(await client.revoke({ token, connection: newer, byoc })).toMatchObject({ outcome: "revoked" });
  });

  it("rfc7591#3 is registered by the operator's token; the vendor and the broker may refuse", async () => {
    expect((await client.register("gated")).status).toBe(201);
    for (const [vendor, refused] of [
      ["op", 401],
      ["no-such-vendor", 400],
    ] as const) {
      const { status, body } = await client.register(vendor);
      expect(status).toBe(refused);
      expect(JSON.parse(new TextDecoder().decode(body))).toHaveProperty("error");
    }
  });
});

describe("answers that only this client can open", () => {
  const encryption = () => ({ privateKey: opening.privateKey });

  it("are asked for in the broker's configuration, and opened", async () => {
    const sealed = createBrokerClient({
      ...common(),
      clientId: "sealed",
      clientSecret: harness.secrets.other,
      encryption: encryption(),
    });
    const { refreshToken = "", connection } = await connect(sealed);
    expectFresh(await sealed.refresh({ refreshToken, connection }));
  });

  it("are not taken in plain, and not opened without the key", async () => {
    const wants = { ...common(), encryption: encryption() };
    const plain = createBrokerClient({ ...wants, clientId: "platform", clientSecret: harness.secrets.platform });
    await expect(connect(plain)).rejects.toMatchObject({
      code: "invalid_response",
      details: { reason: "not_encrypted" },
    });
    const keyless = createBrokerClient({ ...common(), clientId: "sealed", clientSecret: harness.secrets.other });
    await expect(connect(keyless)).rejects.toMatchObject({ details: { reason: "not_decryptable" } });
  });
});

it("explain takes what start takes, and a connection", async () => {
  expect(await client.explain(request)).toMatchObject({ vendor: "op", tier: 1 });
  const { connection } = await connect(client);
  expect(await client.explain({ connection })).toMatchObject({ vendor: "op", credentials: { source: "shared" } });
  await expect(client.explain({ vendor: "no-such-vendor" })).rejects.toMatchObject({ code: "invalid_request" });
});
