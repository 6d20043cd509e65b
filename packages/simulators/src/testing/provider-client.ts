/**
 * A client of the sandbox's OpenID provider on oauth4webapi: checks everything a careful client
 * checks.
 */
import * as oauth from "oauth4webapi";
import { driveConsent, type DriveConsentOptions } from "../drive-consent.ts";
import type { OpenIdProviderClient } from "../openid-provider.ts";

export const REDIRECT_URI = "http://127.0.0.1:9/callback";
export const SCOPE = "openid profile email offline_access api:read api:write";

export const BROKER_CLIENT: OpenIdProviderClient = {
  clientId: "broker",
  clientSecret: "broker-secret-broker-secret-broker",
  redirectUris: [REDIRECT_URI],
  clientName: "The broker",
};

export interface Started {
  readonly url: URL;
  readonly codeVerifier: string;
}

export interface ProviderTestClient {
  /** @param parameters instead of the usual ones; an empty value leaves one out */
  start(parameters?: Readonly<Record<string, string>>): Promise<Started>;
  redeem(callback: URL, codeVerifier: string): Promise<oauth.TokenEndpointResponse>;
  /** The whole flow as the sample user. */
  connect(): Promise<oauth.TokenEndpointResponse>;
  refresh(refreshToken: string): Promise<oauth.TokenEndpointResponse>;
  revoke(token: string): Promise<void>;
  userinfo(accessToken: string): Promise<Response>;
}

/** Drives the browser up to REDIRECT_URI, at which no server listens. */
export function drive(url: URL, options: Partial<DriveConsentOptions> = {}): Promise<URL> {
  return driveConsent(url, { stopAt: (next) => next.href.startsWith(REDIRECT_URI), ...options });
}

export async function createProviderTestClient(issuer: string): Promise<ProviderTestClient> {
  const http = { [oauth.allowInsecureRequests]: true };
  const client: oauth.Client = { client_id: BROKER_CLIENT.clientId };
  const authentication = oauth.ClientSecretBasic(BROKER_CLIENT.clientSecret ?? "");
  const as = await oauth.processDiscoveryResponse(new URL(issuer), await oauth.discoveryRequest(new URL(issuer), http));

  const testClient: ProviderTestClient = {
    async start(parameters = {}) {
      const codeVerifier = oauth.generateRandomCodeVerifier();
      const all = {
        client_id: "broker",
        redirect_uri: REDIRECT_URI,
        response_type: "code",
        scope: SCOPE,
        state: "s1",
        prompt: "consent",
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
        ...parameters,
      };
      const url = new URL(as.authorization_endpoint ?? "");
      url.search = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== "")).toString();
      return { url, codeVerifier };
    },
    async redeem(callback, codeVerifier) {
      const parameters = oauth.validateAuthResponse(as, client, callback, "s1");
      return oauth.processAuthorizationCodeResponse(
        as,
        client,
        await oauth.authorizationCodeGrantRequest(
          as,
          client,
          authentication,
          parameters,
          REDIRECT_URI,
          codeVerifier,
          http,
        ),
        { requireIdToken: true },
      );
    },
    async connect() {
      const { url, codeVerifier } = await testClient.start();
      return testClient.redeem(await drive(url), codeVerifier);
    },
    async refresh(refreshToken) {
      const answer = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, http);
      return oauth.processRefreshTokenResponse(as, client, answer);
    },
    async revoke(token) {
      await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, authentication, token, http));
    },
    userinfo: (accessToken) => oauth.userInfoRequest(as, client, accessToken, http),
  };
  return testClient;
}
