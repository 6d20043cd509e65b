/**
 * A practice Atlassian on one loopback origin: the authorization server of its MCP server (the
 * broker's `atlassian`), and 3LO apps for the REST APIs on the same host. A revocation endpoint is
 * published, and not documented; it can be switched off.
 *
 * As the vendor was seen to answer in 2026-11. Each part says what was seen and what is recalled:
 * atlassian-registration.ts, atlassian-authorize.ts, atlassian-token.ts, atlassian-api.ts.
 */
import { createCodes } from "./base/codes.ts";
import { startVendorHost } from "./base/host.ts";
import type { SimulatorOptions, VendorSimulator } from "./base/simulator.ts";
import { ATLASSIAN_API_ERRORS, serveAtlassianApi } from "./atlassian-api.ts";
import { ATLASSIAN_AUTHORIZATION_ERRORS, serveAtlassianAuthorize } from "./atlassian-authorize.ts";
import { serveAtlassianRegistration } from "./atlassian-registration.ts";
import {
  ATLASSIAN_DEFAULTS,
  type AtlassianClient,
  type AtlassianCode,
  type AtlassianParts,
  type AtlassianSettings,
} from "./atlassian-settings.ts";
import { ATLASSIAN_TOKEN_ERRORS, serveAtlassianToken } from "./atlassian-token.ts";

export interface AtlassianSimulator extends VendorSimulator<AtlassianClient> {
  readonly settings: AtlassianSettings;
  /** Its URL, which is also the `resource` to ask for. */
  readonly mcpServer: string;
  /** The metadata of the issuer, in its insertion form. */
  readonly metadataUrl: string;
  /** What an entry of a 3LO app needs instead of `endpoints`. */
  readonly restEndpoints: Readonly<Record<string, string>>;
}

const CODE_SECONDS = 600;

/** @throws Error of node:net when the port is taken */
export async function startAtlassian(
  options: SimulatorOptions & Partial<AtlassianSettings> = {},
): Promise<AtlassianSimulator> {
  const { now: _now, port: _port, ...given } = options;
  const settings: AtlassianSettings = { ...ATLASSIAN_DEFAULTS, ...given };
  const host = await startVendorHost<AtlassianClient>({ id: "atlassian", brand: "Atlassian" }, options);
  const { url } = host;
  const resourceId = "SimulatedResource0123456789abcde";
  const parts: AtlassianParts = {
    host,
    settings,
    codes: createCodes<AtlassianCode>(CODE_SECONDS, host),
    resourceId,
    mcpServer: `${url}/v1/mcp/authv2`,
  };
  serveAtlassianRegistration(parts);
  serveAtlassianAuthorize(parts);
  serveAtlassianToken(parts);
  serveAtlassianApi(parts);
  const shared = { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/oauth/token` };
  const endpoints = {
    issuer: `${url}/${resourceId}`,
    ...shared,
    registration_endpoint: `${url}/${resourceId}/dcr/register`,
    ...(settings.publishesRevocation ? { revocation_endpoint: `${url}/oauth/revoke` } : {}),
  };
  const errors = {
    authorization: ATLASSIAN_AUTHORIZATION_ERRORS,
    token: ATLASSIAN_TOKEN_ERRORS,
    api: ATLASSIAN_API_ERRORS,
  };
  return {
    ...host.simulator({ endpoints, errors }),
    settings,
    mcpServer: parts.mcpServer,
    metadataUrl: `${url}/.well-known/oauth-authorization-server/${resourceId}`,
    restEndpoints: { ...shared, userinfo_endpoint: `${url}/me` },
  };
}
