/**
 * openid-client, unmodified, is the platform; oidc-provider is the vendor; between them is the
 * broker with a broker.yaml written by hand. If these three agree, a platform can use any
 * conforming library.
 */
import { createCookieJar, driveConsent } from "@oauth-broker/simulators";
import * as client from "openid-client";
import { afterAll, describe, expect, it } from "vitest";
import { startInProcessBroker } from "../../support/broker/in-process.ts";
import { type ClientKeys, createClientKeys, publishKeys } from "../../support/broker/client-keys.ts";
import { REDIRECT_URI } from "../../support/broker/configuration.ts";
import { startParties } from "../../support/broker/harness.ts";
import { plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";
import { shared } from "@oauth-broker/oauth-core/testing";
import { plantVendorSecrets } from "../../support/broker/vendor.ts";

const SCOPE = "openid profile offline_access api:read";

type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>;

describe("openid-client against the broker", () => {
  const parties = shared(() => startParties());

  const keys = shared(() => createClientKeys("by-value"));
  const edwardsKeys = shared(() => createClientKeys("edwards", "Ed25519"));
  const remoteKeys = shared(() => createClientKeys("by-reference"));
  const published = shared(() => publishKeys(remoteKeys.jwks));
  shared(() => startInProcessBroker(yaml(), { env: { PLATFORM_SECRET: parties.secrets.platform } }));

  afterAll(async () => {
    plantVendorSecrets(parties.vendor);
  });

  function yaml(): string {
    const { baseUrl, secrets, vendor } = parties;
    return `
# A deployment on one machine: one vendor of our own, four platforms.
base_url: ${baseUrl}
listen:
  host: 127.0.0.1
  port: ${new URL(baseUrl).port}
store: "sqlite:./data/broker.sqlite"
egress:
  allow_loopback: true            # the vendor and the keys of by-reference are on this machine
owners:
  - id: acme
    name: Acme Corp
clients:
  - client_id: platform
    owner: acme
    client_secret: env:PLATFORM_SECRET
    redirect_uris: [${REDIRECT_URI}]
    vendors: [practice]
  - client_id: by-value
    owner: acme
    jwks: ${keys.jwks}
    redirect_uris: [${REDIRECT_URI}]
  - client_id: edwards
    owner: acme
    jwks: ${edwardsKeys.jwks}
    redirect_uris: [${REDIRECT_URI}]
  - client_id: by-reference
    owner: acme
    jwks_uri: ${published.jwksUri}
    redirect_uris: [${REDIRECT_URI}]
vendors:
  practice:
    name: Practice vendor
    issuer: ${vendor.issuer}
    default_scopes: [openid, offline_access]
    rotates_refresh_tokens: true
    credentials:
      - { id: current, client_id: broker, client_secret: ${secrets.vendor} }
limits:
  par_per_minute: 600
  body_bytes: 65536
`;
  }

  async function discover(clientId: string, authentication: client.ClientAuth): Promise<client.Configuration> {
    return client.discovery(new URL(parties.baseUrl), clientId, {}, authentication, {
      algorithm: "oauth2",
      // The only option that a test on loopback needs; deployments use https.
      execute: [client.allowInsecureRequests],
    });
  }

  /** PAR, the user's browser, the code: what every platform does. */
  async function connect(config: client.Configuration): Promise<Tokens> {
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const expectedState = client.randomState();
    plantSecret("platform's verifier", pkceCodeVerifier);
    const start = await client.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: REDIRECT_URI,
      scope: SCOPE,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state: expectedState,
      vendor: "practice",
      // OpenID requires this of clients that want offline_access.
      prompt: "consent",
    });
    const returned = await driveConsent(start, {
      cookieJar: createCookieJar(),
      stopAt: (url) => url.href.startsWith(REDIRECT_URI),
    });
    plantSecret("broker's code", returned.searchParams.get("code"));
    expect(returned.searchParams.get("iss")).toBe(parties.baseUrl);
    const tokens = await client.authorizationCodeGrant(config, returned, { pkceCodeVerifier, expectedState });
    plantTokens(tokens);
    return tokens;
  }

  function plantTokens(tokens: Tokens): void {
    for (const name of ["access_token", "refresh_token", "vendor_id_token", "connection"]) {
      const value = tokens[name];
      if (typeof value === "string") plantSecret(name, value);
    }
  }

  async function userinfo(accessToken: string): Promise<number> {
    const answer = await fetch(`${parties.vendor.issuer}/me`, { headers: { authorization: `Bearer ${accessToken}` } });
    return answer.status;
  }

  /** @returns the answer to a refresh after the revocation */
  async function wholeLife(config: client.Configuration): Promise<unknown> {
    const tokens = await connect(config);
    expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 3600, scope: SCOPE, vendor: "practice" });
    expect(tokens["vendor_data"]).toEqual({});
    expect(tokens.id_token).toBeUndefined();
    expect(await userinfo(tokens.access_token)).toBe(200);

    const connection = textMember(tokens, "connection");
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? "", { connection });
    plantTokens(refreshed);
    expect(refreshed.access_token).not.toBe(tokens.access_token);
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
    expect(await userinfo(refreshed.access_token)).toBe(200);

    await client.tokenRevocation(config, refreshed.refresh_token ?? "", {
      connection: textMember(refreshed, "connection"),
      token_type_hint: "refresh_token",
    });
    expect(await userinfo(refreshed.access_token)).toBe(401);
    return client
      .refreshTokenGrant(config, refreshed.refresh_token ?? "", { connection: textMember(refreshed, "connection") })
      .catch((error: unknown) => error);
  }

  const keyOf = ({ privateKey: key, kid }: ClientKeys): client.ClientAuth => client.PrivateKeyJwt({ key, kid });
  it.each<[string, string, () => client.ClientAuth]>([
    ["with client_secret_basic", "platform", () => client.ClientSecretBasic(parties.secrets.platform)],
    ["with private_key_jwt and keys given by value", "by-value", () => keyOf(keys)],
    ["rfc9864#2.2 with a key of alg Ed25519", "edwards", () => keyOf(edwardsKeys)],
    ["with private_key_jwt and keys published at jwks_uri", "by-reference", () => keyOf(remoteKeys)],
  ])("%s it connects, refreshes and revokes", async (_, clientId, authentication) => {
    expect(await wholeLife(await discover(clientId, authentication()))).toMatchObject({
      error: "invalid_grant",
      status: 400,
    });
    expect(published.count()).toBe(clientId === "by-reference" ? 1 : 0);
  });

  it("rfc9207#2.4 is refused by the library when iss is another's", async () => {
    const config = await discover("platform", client.ClientSecretBasic(parties.secrets.platform));
    const returned = new URL(`${REDIRECT_URI}?code=x&state=s&iss=https://attacker.example`);
    await expect(client.authorizationCodeGrant(config, returned, { expectedState: "s" })).rejects.toMatchObject({
      cause: { message: 'unexpected "iss" (issuer) response parameter value' },
    });
  });

  it("reports a wrong secret to the platform at its first request", async () => {
    const config = await discover("platform", client.ClientSecretBasic("not-the-secret-of-this-platform"));
    await expect(client.buildAuthorizationUrlWithPAR(config, { vendor: "practice" })).rejects.toMatchObject({
      status: 401,
    });
  });
});
