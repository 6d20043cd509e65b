/**
 * The platform on raw oauth4webapi, which validates every answer strictly: metadata, pushed
 * request, redirect, tokens, errors. The broker is in between; oidc-provider is the vendor
 * and reports what it received.
 */
import { driveConsent, type OpenIdProvider } from "@oauth-broker/simulators";
import { decodeJwt } from "jose";
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type InProcessBroker, startInProcessBroker } from "../../support/broker/in-process.ts";
import { type ClientKeys, createClientKeys } from "../../support/broker/client-keys.ts";
import { brokerYaml, createSecrets, OTHER_REDIRECT_URI, REDIRECT_URI } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { challengeOf } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";
import { plantVendorSecrets, startVendor } from "../../support/broker/vendor.ts";

const SCOPE = "openid email api:read";
const secrets = createSecrets();
const http = { [oauth.allowInsecureRequests]: true };
let baseUrl: string;
let vendor: OpenIdProvider;
let keys: ClientKeys;
let broker: InProcessBroker;

beforeAll(async () => {
  baseUrl = `http://127.0.0.1:${await freePort()}`;
  vendor = await startVendor({ baseUrl, secrets });
  keys = await createClientKeys("first");
  const clients = `  - { client_id: keyed, jwks: ${keys.jwks}, redirect_uris: [${REDIRECT_URI}] }`;
  broker = await startInProcessBroker(
    brokerYaml({ baseUrl, secrets, issuer: vendor.issuer, store: "sqlite:./broker.sqlite", clients }),
  );
});

afterAll(async () => {
  plantVendorSecrets(vendor);
  await broker.close();
  await vendor.close();
});

async function discover(): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(baseUrl);
  const answer = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...http });
  return oauth.processDiscoveryResponse(issuer, answer);
}

interface Started {
  readonly url: URL;
  readonly state: string;
  readonly codeVerifier: string;
}

async function push(
  as: oauth.AuthorizationServer,
  { client, authentication, redirectUri = REDIRECT_URI }: Platform,
): Promise<Started> {
  const state = oauth.generateRandomState();
  const codeVerifier = oauth.generateRandomCodeVerifier();
  plantSecret("platform's verifier", codeVerifier);
  const answer = await oauth.pushedAuthorizationRequest(
    as,
    client,
    authentication,
    {
      response_type: "code",
      redirect_uri: redirectUri,
      scope: SCOPE,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: "S256",
      vendor: "op",
    },
    http,
  );
  const pushed = await oauth.processPushedAuthorizationResponse(as, client, answer);
  expect(pushed.expires_in).toBe(300);
  const url = new URL(as.authorization_endpoint ?? "");
  url.searchParams.set("client_id", client.client_id);
  url.searchParams.set("request_uri", pushed.request_uri);
  return { url, state, codeVerifier };
}

interface Platform {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  readonly redirectUri?: string;
}

async function connect(as: oauth.AuthorizationServer, platform: Platform): Promise<oauth.TokenEndpointResponse> {
  const { client, authentication, redirectUri = REDIRECT_URI } = platform;
  const { url, state, codeVerifier } = await push(as, platform);
  const returned = await driveConsent(url, { stopAt: (at) => at.href.startsWith(redirectUri) });
  const parameters = oauth.validateAuthResponse(as, client, returned, state);
  const answer = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    authentication,
    parameters,
    redirectUri,
    codeVerifier,
    http,
  );
  return oauth.processAuthorizationCodeResponse(as, client, answer);
}

const platforms = (): Record<string, Platform> => ({
  client_secret_basic: {
    client: { client_id: "platform" },
    authentication: oauth.ClientSecretBasic(secrets.platform),
  },
  client_secret_post: {
    client: { client_id: "other" },
    authentication: oauth.ClientSecretPost(secrets.other),
    redirectUri: OTHER_REDIRECT_URI,
  },
  private_key_jwt: {
    client: { client_id: "keyed" },
    authentication: oauth.PrivateKeyJwt({ key: keys.privateKey, kid: keys.kid }),
  },
});

describe("the metadata", () => {
  it("rfc8414#3.3 passes the library's validation and says what docs/api.md promises", async () => {
    const as = await discover();
    expect(as).toMatchObject({
      issuer: baseUrl,
      require_pushed_authorization_requests: true,
      code_challenge_methods_supported: ["S256"],
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt"],
    });
    expect(as.token_endpoint_auth_signing_alg_values_supported).toEqual(expect.arrayContaining(["ES256", "RS256"]));
    expect(as.registration_endpoint).toBeUndefined();
    expect(as.jwks_uri).toBeUndefined();
    for (const name of ["pushed_authorization_request", "authorization", "token", "revocation"]) {
      expect(textMember(as, `${name}_endpoint`)).toContain(`${baseUrl}/v1/`);
    }
  });
});

describe.each(["client_secret_basic", "client_secret_post", "private_key_jwt"])("a platform with %s", (method) => {
  it("pushes, returns, redeems, refreshes and revokes", async () => {
    const as = await discover();
    const platform = platforms()[method]!;
    const { client, authentication } = platform;
    const tokens = await connect(as, platform);
    expect(tokens.scope).toBe(SCOPE);
    expect(oauth.getValidatedIdTokenClaims(tokens)).toBeUndefined();
    expect(decodeJwt(textMember(tokens, "vendor_id_token"))).toMatchObject({
      iss: vendor.issuer,
      aud: "broker",
      sub: "user",
    });

    const refreshing = { ...http, additionalParameters: { connection: textMember(tokens, "connection") } };
    const { refresh_token: refreshToken = "" } = tokens;
    const answer = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, refreshing);
    const refreshed = await oauth.processRefreshTokenResponse(as, client, answer);
    expect(refreshed.refresh_token).not.toBe(refreshToken);

    const revoking = { ...http, additionalParameters: { connection: textMember(refreshed, "connection") } };
    const revoked = await oauth.revocationRequest(as, client, authentication, refreshed.access_token, revoking);
    await oauth.processRevocationResponse(revoked.clone());
    expect(await revoked.json()).toEqual({ revoked: "token" });
    for (const [what, set] of Object.entries({ tokens, refreshed })) {
      for (const name of ["access_token", "refresh_token", "connection"])
        plantSecret(`${name} of ${what}`, textMember(set, name));
    }
  });
});

describe("the vendor", () => {
  it("bar#VR-1 receives a challenge and its verifier, both our own, and each parameter once", async () => {
    const as = await discover();
    const platform = platforms()["client_secret_basic"]!;
    const { url, codeVerifier } = await push(as, platform);
    const before = vendor.requests().length;
    let sentTo: URL | undefined;
    await driveConsent(url, {
      stopAt: (at) => {
        if (at.pathname === "/auth") sentTo = at;
        return at.href.startsWith(`${baseUrl}/v1/callback`);
      },
    });
    const auth = sentTo!.searchParams;
    const names = [...auth.keys()];
    expect(new Set(names).size).toBe(names.length);
    expect(names.sort()).toEqual(
      [
        "client_id",
        "code_challenge",
        "code_challenge_method",
        "nonce",
        "redirect_uri",
        "response_type",
        "scope",
        "state",
      ].sort(),
    );
    expect(Object.fromEntries(auth)).toMatchObject({
      client_id: "broker",
      response_type: "code",
      redirect_uri: `${baseUrl}/v1/callback`,
      scope: SCOPE,
      code_challenge_method: "S256",
    });
    expect(auth.get("code_challenge")).not.toBe(challengeOf(codeVerifier));
    expect(auth.get("nonce")).toMatch(/^[\w-]{43}$/);
    expect(
      vendor
        .requests()
        .slice(before)
        .some(({ path }) => path === "/token"),
    ).toBe(false);
  });

  it("bar#VR-4 is asked for tokens once, with Basic credentials and its verifier", async () => {
    const as = await discover();
    const before = vendor.requests().length;
    const tokens = await connect(as, platforms()["client_secret_basic"]!);
    const seen = vendor.requests().slice(before);
    const auth = seen.find(({ path }) => path === "/auth")!;
    const token = seen.filter(({ path }) => path === "/token");
    expect(token).toHaveLength(1);
    const { body, headers } = token[0]!;
    expect(Object.keys(body).sort()).toEqual(["code", "code_verifier", "grant_type", "redirect_uri"]);
    expect(body).toMatchObject({ grant_type: "authorization_code", redirect_uri: `${baseUrl}/v1/callback` });
    expect(challengeOf(body["code_verifier"] ?? "")).toBe(auth.query["code_challenge"]);
    const credentials = Buffer.from(headers["authorization"]?.replace("Basic ", "") ?? "", "base64").toString();
    expect(credentials).toBe(`broker:${secrets.vendor}`);
    expect(decodeJwt(textMember(tokens, "vendor_id_token"))["nonce"]).toBe(auth.query["nonce"]);
  });

  it("never receives the platform's verifier, challenge, state, code or credentials", async () => {
    const as = await discover();
    const platform = platforms()["client_secret_basic"]!;
    const before = vendor.requests().length;
    const { url, state, codeVerifier } = await push(as, platform);
    const returned = await driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI) });
    const parameters = oauth.validateAuthResponse(as, platform.client, returned, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      as,
      platform.client,
      platform.authentication,
      parameters,
      REDIRECT_URI,
      codeVerifier,
      http,
    );
    expect(answer.status).toBe(200);
    const seen = JSON.stringify(vendor.requests().slice(before));
    for (const ours of [
      codeVerifier,
      challengeOf(codeVerifier),
      state,
      returned.searchParams.get("code") ?? "",
      secrets.platform,
      REDIRECT_URI,
    ]) {
      expect(seen).not.toContain(ours);
    }
  });

  it("cancelled by the user, comes back as access_denied with state, iss and flow_id", async () => {
    const as = await discover();
    const platform = platforms()["client_secret_basic"]!;
    const { url, state } = await push(as, platform);
    const returned = await driveConsent(url, { decision: "cancel", stopAt: (at) => at.href.startsWith(REDIRECT_URI) });
    expect(returned.searchParams.get("flow_id")).toMatch(/^[\w-]{22}$/);
    expect(() => oauth.validateAuthResponse(as, platform.client, returned, state)).toThrow(
      expect.objectContaining({ error: "access_denied" }),
    );
  });
});
