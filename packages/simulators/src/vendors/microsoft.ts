/**
 * A practice Microsoft on one loopback origin: the directories of organizations, and the Agent 365
 * MCP servers. It has no revocation endpoint, and no registration of apps.
 *
 * As the vendor was seen to answer in 2026-11. Each part says what was seen and what is recalled:
 * microsoft-authorize.ts, -admin-consent.ts, -token.ts, -client-auth.ts, -identity.ts, -scopes.ts,
 * -errors.ts, -mcp.ts.
 */
import { serveIntrospection } from "./base/introspection.ts";
import { createCodes } from "./base/codes.ts";
import { startVendorHost } from "./base/host.ts";
import type { SimulatorOptions, VendorSimulator } from "./base/simulator.ts";
import { createIdTokenSigner } from "./id-tokens.ts";
import { serveMicrosoftAdminConsent } from "./microsoft-admin-consent.ts";
import { serveMicrosoftAuthorize } from "./microsoft-authorize.ts";
import { MICROSOFT_AUTHORIZATION_ERRORS, MICROSOFT_TOKEN_ERRORS } from "./microsoft-errors.ts";
import { microsoftEndpoints, serveMicrosoftIdentity } from "./microsoft-identity.ts";
import { MICROSOFT_API_ERRORS, serveMicrosoftMcp } from "./microsoft-mcp.ts";
import {
  consentKey,
  microsoftDefaults,
  type MicrosoftClient,
  type MicrosoftCode,
  type MicrosoftParts,
  type MicrosoftSettings,
} from "./microsoft-settings.ts";
import { serveMicrosoftToken } from "./microsoft-token.ts";

export interface MicrosoftSimulator extends VendorSimulator<MicrosoftClient> {
  readonly settings: MicrosoftSettings;
  /**
   * As `endpoints`, which are those of `organizations`, for another path; also for a placeholder
   * such as `{tenant}`.
   */
  endpointsOf(tenant: string): Readonly<Record<string, string>>;
  /** Where an administrator allows the app for everyone; the callback comes without `code`. */
  adminConsentUrl(tenant: string): string;
  mcpServer(environmentId: string, serverName: string): string;
  /** The password changes, or all sessions end: refreshing answers AADSTS50173. */
  revokeSessions(user: string): void;
}

export interface MicrosoftOptions extends SimulatorOptions, Partial<MicrosoftSettings> {
  /** Default false, as Microsoft's. The sandbox has it, so that a check there has an answer. */
  readonly hasIntrospection?: boolean;
}

const CODE_SECONDS = 600;

/** @throws Error of node:net when the port is taken */
export async function startMicrosoftAgent365(options: MicrosoftOptions = {}): Promise<MicrosoftSimulator> {
  const { now: _now, port: _port, hasIntrospection = false, ...given } = options;
  const settings: MicrosoftSettings = { ...microsoftDefaults(), ...given };
  const host = await startVendorHost<MicrosoftClient>({ id: "microsoft-agent365", brand: "Microsoft" }, options);
  const { url } = host;
  const parts: MicrosoftParts = {
    host,
    settings,
    codes: createCodes<MicrosoftCode>(CODE_SECONDS, host),
    consents: new Set(),
    signer: createIdTokenSigner("microsoft"),
  };
  serveMicrosoftIdentity(parts);
  serveMicrosoftAuthorize(parts);
  serveMicrosoftAdminConsent(parts);
  serveMicrosoftToken(parts);
  serveMicrosoftMcp(parts);
  if (hasIntrospection) serveIntrospection(host);
  const errors = {
    authorization: MICROSOFT_AUTHORIZATION_ERRORS,
    token: MICROSOFT_TOKEN_ERRORS,
    api: MICROSOFT_API_ERRORS,
  };
  const simulator = host.simulator({ endpoints: microsoftEndpoints(url, "organizations"), errors });
  return {
    ...simulator,
    settings,
    endpointsOf: (tenant) => microsoftEndpoints(url, tenant),
    adminConsentUrl: (tenant) => `${url}/${tenant}/adminconsent`,
    mcpServer: (environmentId, serverName) => `${url}/mcp/environments/${environmentId}/servers/${serverName}`,
    revokeSessions: (user) => host.tokens.endGrants((grant) => grant.user === user),
    disconnect(user, clientId) {
      for (const { id } of settings.tenants) parts.consents.delete(consentKey(id, user, clientId));
      simulator.disconnect(user, clientId);
    },
  };
}
