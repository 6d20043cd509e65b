/**
 * The platform's side of the broker's contract, on oauth4webapi: push the request, redeem the code, refresh, revoke.
 * As a real backend would do it: discovery once, PKCE S256, `state` and `iss` checked before the code is used.
 */
import { decodeJwt } from "jose";
import * as oauth from "oauth4webapi";

export interface BrokerClientOptions {
  /** The broker's issuer: `base_url`, no trailing slash. */
  readonly brokerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

/** The broker's token answer, and what the vendor's ID token says. */
export interface BrokerTokens {
  readonly accessToken: string;
  readonly tokenType: string;
  readonly expiresInSeconds?: number;
  readonly refreshToken?: string;
  readonly scope?: string;
  readonly idTokenClaims?: { readonly iss?: string; readonly sub?: string };
  readonly vendor: string;
  /** What else the vendor said; never a token. */
  readonly vendorData: Readonly<Record<string, unknown>>;
  /** Sent back with refresh and revoke: it names what minted the tokens. */
  readonly connection: string;
}

export interface PushedRequest {
  readonly state: string;
  readonly codeVerifier: string;
}

export interface BrokerClient {
  /** @returns where the browser goes next, and what must wait for it in the user's session */
  push(request: Readonly<Record<string, string>>): Promise<{ readonly url: string; readonly pushed: PushedRequest }>;
  /**
   * Compares `state` and `iss` before anything else is believed.
   * @param callback the address the browser came back to, query included
   * @throws the broker's error when the callback carries one
   */
  readCallback(callback: URL, pushed: PushedRequest): Promise<URLSearchParams>;
  /** @param parameters what `readCallback` answered */
  redeem(parameters: URLSearchParams, pushed: PushedRequest): Promise<BrokerTokens>;
  refresh(tokens: BrokerTokens): Promise<BrokerTokens>;
  /** @returns what the broker says was revoked */
  revoke(tokens: BrokerTokens, which: RevocableToken): Promise<string>;
}

export type RevocableToken = "access_token" | "refresh_token";

const TIMEOUT_MS = 15_000;

/**
 * Discovers the broker at the first call, so that it may be started after the platform.
 * Its functions reject with oauth4webapi's errors; problem.ts reads them.
 */
export function createBrokerClient(options: BrokerClientOptions): BrokerClient {
  const client: oauth.Client = { client_id: options.clientId };
  const authentication = oauth.ClientSecretBasic(options.clientSecret);
  const http = () => ({
    // oauth4webapi speaks to https only, unless told; the sandbox is plain http on loopback.
    [oauth.allowInsecureRequests]: options.brokerUrl.startsWith("http://"),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  let metadata: oauth.AuthorizationServer | undefined;

  async function discover(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(options.brokerUrl);
    metadata ??= await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...http() }),
    );
    return metadata;
  }

  return {
    async push(request) {
      const as = await discover();
      const pushed = { state: oauth.generateRandomState(), codeVerifier: oauth.generateRandomCodeVerifier() };
      const parameters = {
        response_type: "code",
        redirect_uri: options.redirectUri,
        state: pushed.state,
        code_challenge: await oauth.calculatePKCECodeChallenge(pushed.codeVerifier),
        code_challenge_method: "S256",
        ...request,
      };
      const answer = await oauth.pushedAuthorizationRequest(as, client, authentication, parameters, http());
      const { request_uri: requestUri } = await oauth.processPushedAuthorizationResponse(as, client, answer);
      const url = new URL(as.authorization_endpoint ?? "");
      url.search = new URLSearchParams({ client_id: options.clientId, request_uri: requestUri }).toString();
      return { url: url.href, pushed };
    },

    async readCallback(callback, { state }) {
      return oauth.validateAuthResponse(await discover(), client, callback, state);
    },

    async redeem(parameters, { codeVerifier }) {
      const as = await discover();
      const answer = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        authentication,
        parameters,
        options.redirectUri,
        codeVerifier,
        http(),
      );
      return readTokens(await oauth.processAuthorizationCodeResponse(as, client, answer));
    },

    async refresh({ refreshToken = "", connection }) {
      const as = await discover();
      const request = { ...http(), additionalParameters: { connection } };
      const answer = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, request);
      return readTokens(await oauth.processRefreshTokenResponse(as, client, answer));
    },

    async revoke(tokens, which) {
      const as = await discover();
      const token = which === "access_token" ? tokens.accessToken : (tokens.refreshToken ?? "");
      const request = { ...http(), additionalParameters: { token_type_hint: which, connection: tokens.connection } };
      const answer = await oauth.revocationRequest(as, client, authentication, token, request);
      await oauth.processRevocationResponse(answer);
      const { revoked = "token" }: { revoked?: string } = JSON.parse(await answer.text());
      return revoked;
    },
  };
}

function readTokens(answer: oauth.TokenEndpointResponse): BrokerTokens {
  const { vendor, connection, vendor_id_token: idToken, vendor_data: vendorData } = answer;
  return {
    accessToken: answer.access_token,
    tokenType: answer.token_type,
    ...(answer.expires_in === undefined ? {} : { expiresInSeconds: answer.expires_in }),
    ...(answer.refresh_token === undefined ? {} : { refreshToken: answer.refresh_token }),
    ...(answer.scope === undefined ? {} : { scope: answer.scope }),
    // The broker has verified it; here it is only shown.
    ...(typeof idToken === "string" ? { idTokenClaims: decodeJwt(idToken) } : {}),
    vendor: typeof vendor === "string" ? vendor : "",
    vendorData: isRecord(vendorData) ? vendorData : {},
    connection: typeof connection === "string" ? connection : "",
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
