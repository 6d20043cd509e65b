/**
 * The platform on raw oauth4webapi, which validates every answer strictly: metadata, pushed
 * request, redirect, tokens, errors. The broker is in between; oidc-provider is the vendor
 * and reports what it received.
 */
import { driveConsent } from "@oauth-broker/simulators";
import { decodeJwt } from "jose";
import * as oauth from "oauth4webapi";
import { describe, expect, it } from "vitest";
import { startHarness } from "../../support/broker/harness.ts";
import { type ClientKeys, createClientKeys } from "../../support/broker/client-keys.ts";
import { OTHER_REDIRECT_URI, REDIRECT_URI } from "../../support/broker/configuration.ts";
import { basic, challengeOf } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const SCOPE = "openid email api:read";
const http = { [oauth.allowInsecureRequests]: true };
let keys: ClientKeys;
const harness = shared(async () => {
  keys = await createClientKeys("first");
  const clients = `  - { client_id: keyed, jwks: ${keys.jwks}, redirect_uris: [${REDIRECT_URI}] }`;
  return startHarness({ store: "sqlite:./broker.sqlite", clients });
});

async function discover(): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(harness.baseUrl);
  const answer = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...http });
  return oauth.processDiscoveryResponse(issuer, answer);
}

interface Platform {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  readonly redirectUri?: string;
}

/** The whole flow. @returns the tokens, and what only the platform and the broker know of it */
async function connect(as: oauth.AuthorizationServer, platform: Platform) {
  const { client, authentication, redirectUri = REDIRECT_URI } = platform;
  const state = oauth.generateRandomState();
  const codeVerifier = oauth.generateRandomCodeVerifier();
  plantSecret("platform's verifier", codeVerifier);
  const request = {
    response_type: "code",
    redirect_uri: redirectUri,
    scope: SCOPE,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
    vendor: "op",
  };
  const pushing = await oauth.pushedAuthorizationRequest(as, client, authentication, request, http);
  const pushed = await oauth.processPushedAuthorizationResponse(as, client, pushing);
  expect(pushed.expires_in).toBe(300);
  const url = new URL(as.authorization_endpoint ?? "");
  url.searchParams.set("client_id", client.client_id);
  url.searchParams.set("request_uri", pushed.request_uri);
  let sentTo: URL | undefined;
  const returned = await driveConsent(url, {
    stopAt: (at) => {
      if (at.pathname === "/auth") sentTo = at;
      return at.href.startsWith(redirectUri);
    },
  });
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
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer);
  const ours = [codeVerifier, challengeOf(codeVerifier), state, parameters.get("code") ?? "", redirectUri];
  return { tokens, ours, sentTo: sentTo ?? url };
}

const platforms = (): Record<string, Platform> => ({
  client_secret_basic: {
    client: { client_id: "platform" },
    authentication: oauth.ClientSecretBasic(harness.secrets.platform),
  },
  client_secret_post: {
    client: { client_id: "other" },
    authentication: oauth.ClientSecretPost(harness.secrets.other),
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
      issuer: harness.baseUrl,
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
      expect(textMember(as, `${name}_endpoint`)).toContain(`${harness.baseUrl}/v1/`);
    }
  });
});

describe.each(["client_secret_basic", "client_secret_post", "private_key_jwt"])("a platform with %s", (method) => {
  it("pushes, returns, redeems, refreshes and revokes", async () => {
    const as = await discover();
    const platform = platforms()[method]!;
    const { client, authentication } = platform;
    const { tokens } = await connect(as, platform);
    expect(tokens.scope).toBe(SCOPE);
    expect(oauth.getValidatedIdTokenClaims(tokens)).toBeUndefined();
    expect(decodeJwt(textMember(tokens, "vendor_id_token"))).toMatchObject({
      iss: harness.vendor.issuer,
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

it("bar#VR-1 bar#VR-4 the vendor gets our own challenge, verifier, nonce, and no value of the platform", async () => {
  const as = await discover();
  const before = harness.vendor.requests().length;
  const { tokens, ours, sentTo } = await connect(as, platforms()["client_secret_basic"]!);
  const seen = harness.vendor.requests().slice(before);
  const asked = sentTo.searchParams;
  expect([...asked.keys()].toSorted()).toEqual(
    "client_id code_challenge code_challenge_method nonce redirect_uri response_type scope state".split(" "),
  );
  expect(Object.fromEntries(asked)).toMatchObject({
    client_id: "broker",
    response_type: "code",
    redirect_uri: `${harness.baseUrl}/v1/callback`,
    scope: SCOPE,
    code_challenge_method: "S256",
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  const [redeemed, ...more] = seen.filter(({ path }) => path === "/token");
  expect(more).toEqual([]);
  const { body, headers } = redeemed!;
  expect(Object.keys(body).toSorted()).toEqual(["code", "code_verifier", "grant_type", "redirect_uri"]);
  expect(body).toMatchObject({ grant_type: "authorization_code", redirect_uri: `${harness.baseUrl}/v1/callback` });
  expect(challengeOf(body["code_verifier"] ?? "")).toBe(asked.get("code_challenge"));
  expect(headers["authorization"]).toBe(basic("broker", harness.secrets.vendor));
  expect(decodeJwt(textMember(tokens, "vendor_id_token"))["nonce"]).toBe(asked.get("nonce"));
  const text = JSON.stringify(seen);
  for (const value of [...ours, harness.secrets.platform]) expect(text).not.toContain(value);
});
