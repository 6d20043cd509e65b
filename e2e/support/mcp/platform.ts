/**
 * The platform in front of a hosted server, on oauth4webapi, which validates every answer of the
 * server strictly. It has the vendor's redirect URI; the server is its authorization server. Every
 * secret that passes through is planted.
 */
import type { AccountId, DriveConsentOptions } from "@oauth-broker/simulators";
import * as oauth from "oauth4webapi";
import { PLATFORM_CALLBACK } from "./process.ts";
import { consent } from "./vendor.ts";
import { plantSecret } from "../secrets.ts";

const http = { [oauth.allowInsecureRequests]: true };
const NONE = oauth.None();

/** A user who is back from the vendor. */
export interface Returned {
  readonly url: URL;
  readonly state: string;
  readonly codeVerifier: string;
}

type Server = oauth.AuthorizationServer & { readonly vendor_issuer?: string };

export type McpPlatform = Awaited<ReturnType<typeof createMcpPlatform>>;
/**
 * Discovers the server and registers, as a platform does when a connector is added.
 * @param callback the server's PLATFORM_OAUTH_CALLBACK_URL
 */
export async function createMcpPlatform(issuer: string, callback = PLATFORM_CALLBACK) {
  const as = await discover(issuer);
  const client = await register(as, callback);
  const start = async (parameters: Readonly<Record<string, string | undefined>> = {}): Promise<Returned> => {
    const state = oauth.generateRandomState();
    const codeVerifier = oauth.generateRandomCodeVerifier();
    plantSecret("platform's verifier", codeVerifier);
    const url = new URL(as.authorization_endpoint ?? "");
    const all = {
      response_type: "code",
      client_id: client.client_id,
      redirect_uri: callback,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: "S256",
      resource: `${issuer}/mcp`,
      ...parameters,
    };
    for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value);
    return { url, state, codeVerifier };
  };
  const toVendor = async (options: Pick<Partial<DriveConsentOptions>, "account" | "decision"> = {}) => {
    const started = await start();
    const url = await consent(started.url, { stopAt: ({ href }) => href.startsWith(callback), ...options });
    plantSecret("code", url.searchParams.get("code"));
    return { ...started, url };
  };
  const redeem = async ({ url, state, codeVerifier }: Returned): Promise<PlatformTokens> => {
    const answer = oauth.validateAuthResponse(asVendor(as), client, url, state);
    const request = { ...http, additionalParameters: { resource: `${issuer}/mcp` } };
    const given = [answer, callback, codeVerifier, request] as const;
    const redeemed = await oauth.authorizationCodeGrantRequest(as, client, NONE, ...given);
    return planted(await oauth.processAuthorizationCodeResponse(as, client, redeemed));
  };
  return {
    as,
    client,
    /** @param parameters over those of a valid request; undefined omits one */
    start,
    /** To the vendor and back. */
    toVendor,
    /** @throws oauth4webapi's errors for an invalid answer, or an error */
    redeem,
    connect: async (account: AccountId = "user") => redeem(await toVendor({ account })),
    /** @throws oauth.ResponseBodyError */
    refresh: async (refreshToken: string) => {
      const answer = await oauth.refreshTokenGrantRequest(as, client, NONE, refreshToken, http);
      return planted(await oauth.processRefreshTokenResponse(as, client, answer));
    },
    /** @throws oauth.ResponseBodyError */
    revoke: async (token: string) => {
      await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, NONE, token, http));
    },
  };
}

/** The authorization response is the vendor's own: an `iss` in it is the `vendor_issuer`. */
function asVendor(as: Server): oauth.AuthorizationServer {
  return as.vendor_issuer === undefined
    ? as
    : { ...as, issuer: as.vendor_issuer, authorization_response_iss_parameter_supported: true };
}

async function discover(issuer: string): Promise<Server> {
  const url = new URL(issuer);
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { algorithm: "oauth2", ...http }));
}

async function register(as: oauth.AuthorizationServer, callback: string): Promise<oauth.Client> {
  const metadata = { redirect_uris: [callback], token_endpoint_auth_method: "none", client_name: "Platform" };
  const answer = await oauth.dynamicClientRegistrationRequest(as, metadata, http);
  return oauth.processDynamicClientRegistrationResponse(answer);
}

export type PlatformTokens = ReturnType<typeof planted>;
function planted(answer: oauth.TokenEndpointResponse) {
  const { access_token: accessToken, refresh_token: refreshToken = "", scope, expires_in: expiresIn } = answer;
  plantSecret("our access token", accessToken);
  plantSecret("our refresh token", refreshToken);
  return { accessToken, refreshToken, scope, expiresIn };
}

/** @returns the status that ended it, with the OAuth error code if the library reads one */
export async function errorOf(work: Promise<unknown>): Promise<string> {
  const thrown: unknown = await work.then(
    () => new Error("it succeeded"),
    (error: unknown) => error,
  );
  if (thrown instanceof oauth.ResponseBodyError) return `${thrown.status} ${thrown.error}`;
  // The library takes the error code from a 4xx only.
  if (thrown instanceof oauth.OperationProcessingError && thrown.cause instanceof Response) {
    return `${thrown.cause.status} ${thrown.cause.headers.has("retry-after") ? "retry-after" : ""}`.trim();
  }
  throw thrown;
}
