/**
 * A practice Google for the Workspace MCP servers, on one loopback origin instead of Google's
 * several hosts.
 *
 * As the vendor was seen to answer in 2026-11. Each part says what was seen and what is recalled:
 * google-authorize.ts, google-token.ts, google-refresh-tokens.ts, google-identity.ts,
 * google-products.ts.
 */
import { createCodes } from "./base/codes.ts";
import { startVendorHost } from "./base/host.ts";
import type { SimulatorOptions, VendorSimulator } from "./base/simulator.ts";
import { GOOGLE_AUTHORIZATION_ERRORS, serveGoogleAuthorize } from "./google-authorize.ts";
import { serveGoogleIdentity } from "./google-identity.ts";
import { API_ERRORS, isGmailScope, serveGoogleProducts } from "./google-products.ts";
import { createGoogleRefreshTokens } from "./google-refresh-tokens.ts";
import { createGoogleConsents, GOOGLE_DEFAULTS, type GoogleCode, type GoogleSettings } from "./google-settings.ts";
import { endGoogleGrant, GOOGLE_TOKEN_ERRORS, serveGoogleToken } from "./google-token.ts";

export interface GoogleSimulator extends VendorSimulator {
  readonly settings: GoogleSettings;
  /** `gmail`, `drive`, `calendar`, `chat`, `people` */
  mcpServer(product: string): string;
  /** The user's password changes: refresh tokens with Gmail scopes end. */
  changePassword(user: string): void;
}

const CODE_SECONDS = 600;

export async function startGoogleWorkspace(
  options: SimulatorOptions & Partial<GoogleSettings> = {},
): Promise<GoogleSimulator> {
  const { now: _now, port: _port, ...given } = options;
  const settings: GoogleSettings = { ...GOOGLE_DEFAULTS, ...given };
  const host = await startVendorHost({ id: "google-workspace", brand: "Google Workspace" }, options);
  const endpoints = {
    issuer: host.url,
    authorization_endpoint: `${host.url}/o/oauth2/v2/auth`,
    token_endpoint: `${host.url}/token`,
    revocation_endpoint: `${host.url}/revoke`,
    jwks_uri: `${host.url}/oauth2/v3/certs`,
    userinfo_endpoint: `${host.url}/v1/userinfo`,
  };
  const identity = serveGoogleIdentity(host, settings, endpoints);
  const parts = {
    host,
    settings,
    consents: createGoogleConsents(),
    codes: createCodes<GoogleCode>(CODE_SECONDS, host),
    refreshTokens: createGoogleRefreshTokens(host, settings),
    identity,
  };
  serveGoogleAuthorize(parts);
  serveGoogleToken(parts);
  serveGoogleProducts(host, settings);
  const errors = {
    authorization: GOOGLE_AUTHORIZATION_ERRORS,
    token: Object.keys(GOOGLE_TOKEN_ERRORS),
    revocation: ["invalid_token"],
    api: Object.keys(API_ERRORS),
  };
  return {
    ...host.simulator({ endpoints, errors }),
    settings,
    mcpServer: (product) => `${host.url}/${product}/mcp/v1`,
    changePassword(user) {
      const gone = host.tokens.live().filter(({ kind, grant }) => {
        return kind === "refresh" && grant.user === user && grant.scopes.some(isGmailScope);
      });
      for (const { value } of gone) host.tokens.end(value, "revoked");
    },
    disconnect: (user, clientId) => endGoogleGrant(parts, user, clientId),
  };
}
