/** An MCP backend on @oauth-broker/broker-client, against the broker and a real OpenID provider: the whole life of a connection. */
import { type BrokerClient, createBrokerClient, type Session, type Tokens } from "@oauth-broker/broker-client";
import { driveConsent, type DriveConsentOptions } from "@oauth-broker/simulators";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClientKeys, createClientKeys } from "../support/client-keys.ts";
import { REDIRECT_URI, SCOPE } from "../support/configuration.ts";
import { type Scene, startScene } from "../support/scene.ts";
import { plantSecret } from "../support/secrets.ts";

let scene: Scene;
let keys: ClientKeys;
let client: BrokerClient;
let keyed: BrokerClient;

beforeAll(async () => {
  keys = await createClientKeys("first");
  scene = await startScene({
    clients: `  - { client_id: keyed, jwks: ${keys.jwks}, redirect_uris: [${REDIRECT_URI}] }`,
  });
  const common = { issuer: scene.baseUrl, redirectUri: REDIRECT_URI, now: scene.now };
  client = createBrokerClient({ ...common, clientId: "platform", clientSecret: scene.secrets.platform });
  keyed = createBrokerClient({ ...common, clientId: "keyed", privateKey: { key: keys.privateKey, kid: keys.kid } });
});
afterAll(() => scene.close());

const request = { vendor: "op", scope: SCOPE };

async function consent(url: string, options: Partial<DriveConsentOptions> = {}): Promise<URL> {
  return driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI), ...options });
}

async function connect(by: BrokerClient): Promise<Tokens> {
  const { url, session } = await by.start(request);
  plantSecret("verifier in the session", session.codeVerifier);
  return by.finish(await consent(url), session);
}

describe.each(["client_secret_basic", "private_key_jwt"])("a backend with %s", (method) => {
  const by = (): BrokerClient => (method === "private_key_jwt" ? keyed : client);

  it("connects, refreshes and revokes", async () => {
    const tokens = await connect(by());
    expect(tokens).toMatchObject({
      tokenType: "Bearer",
      vendor: "op",
      scope: SCOPE,
      expiresAt: scene.now() + 3600,
      vendorData: {},
    });
    expect(decodeJwt(tokens.vendorIdToken ?? "")).toMatchObject({
      iss: scene.vendor.issuer,
      aud: "broker",
      sub: "user",
    });

    const { refreshToken = "", connection } = tokens;
    const refreshed = await by().refresh({ refreshToken, connection });
    if (refreshed.outcome !== "ok") throw new Error(refreshed.outcome);
    expect(refreshed.tokens.refreshToken).not.toBe(refreshToken);

    const { accessToken, connection: newer } = refreshed.tokens;
    expect(await by().revoke({ token: accessToken, tokenTypeHint: "access_token", connection: newer })).toEqual({
      outcome: "revoked",
      revoked: "token",
    });
  });
});

it("keeps the session plain: what JSON makes of it finishes the flow", async () => {
  const { url, session } = await client.start(request);
  const kept = JSON.parse(JSON.stringify(session)) as Session;
  expect(kept).toEqual(session);
  expect(await client.finish(await consent(url), kept)).toMatchObject({ vendor: "op" });
});
