/**
 * Atlassian (Jira, Confluence), the authorization server of its MCP server; clients register
 * themselves there. Facts of 2026-11-21 from the sources below; recalled, not observed: that a
 * refresh token can be used again for some minutes, and that tokens for the MCP server open `/me`.
 *
 * The issuer has a path, which is the same for all customers and is what the server's resource
 * metadata names; the endpoints are those of the classic apps. A refresh replaces the refresh
 * token; a dead one is answered 403. Revocation is not documented; the metadata names it since
 * 2026-09 (last seen 2026-10-10), so it is taken for that of RFC 7009.
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

const ISSUER = "https://auth.atlassian.com/VCeDsk8ZHncYF1g234fKtc4lNipbBhu3";
/**
 * `https://mcp.atlassian.com/v2/mcp` follows it on 2027-03-01, with the same authorization server.
 */
const SERVER_URL = "https://mcp.atlassian.com/v1/mcp/authv2";

export const atlassian: RegistryEntry = {
  vendor: defineVendor({
    id: "atlassian",
    name: "Atlassian",
    issuer: ISSUER,
    serverUrl: SERVER_URL,
    authorizationEndpoint: "https://auth.atlassian.com/authorize",
    tokenEndpoint: "https://auth.atlassian.com/oauth/token",
    registrationEndpoint: `${ISSUER}/dcr/register`,
    // With `read:me`.
    account: { endpoint: "https://api.atlassian.com/me", method: "GET", identity: ["account_id"] },
    apiHosts: ["api.atlassian.com", "mcp.atlassian.com"],
    revocationEndpoint: "https://auth.atlassian.com/oauth/revoke",
    defaultScopes: ["read:me"],
    scopeMeanings: {
      "read:me": "See your name, email address and picture",
      offline_access: "Keep this access while you are away",
      "read:jira-user": "See users in Jira, with names and email addresses",
      "read:jira-work": "Read projects and issues in Jira",
      "write:jira-work": "Create and change issues in Jira, and comment in your name",
      "read:confluence-content.all": "Read all pages in Confluence that you can open",
      "read:confluence-space.summary": "See the spaces of Confluence",
      "search:confluence": "Search in Confluence",
      "write:confluence-content": "Create and change pages in Confluence",
    },
    offlineScopes: ["offline_access"],
    authorizationParams: { audience: "api.atlassian.com", prompt: "consent" },
    tokenEndpointAuthMethod: "client_secret_post",
    issuesIdTokens: false,
    rotatesRefreshTokens: true,
    // Without a resource the authorization endpoint responds with a page and nothing else.
    defaultResource: SERVER_URL,
    tokenErrors: {
      // The error for wrong credentials and, with 403, for a dead refresh token.
      access_denied: "vendor_credentials_rejected",
      unauthorized_client: "invalid_grant",
    },
    revocationHelp: "Open id.atlassian.com, look under Connected apps, and remove this app there",
  }),
  aliases: ["jira", "confluence"],
  placeholders: {},
  setup: "none",
  byoc: false,
  serverUrl: SERVER_URL,
  verification: {
    status: "first-class",
    checkedOn: "2026-11-21",
    sources: [
      "https://auth.atlassian.com/.well-known/oauth-authorization-server/VCeDsk8ZHncYF1g234fKtc4lNipbBhu3 (as recorded 2026-07, 2026-09 and 2026-10)",
      "https://developer.atlassian.com/cloud/rovo-mcp/guides/configuring-oauth-2-1/",
      "https://developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens",
      "https://nango.dev/blog/jira-oauth-refresh-token-invalid-grant",
      "NangoHQ/nango@2f4c0af packages/providers/providers.yaml#atlassian",
      "nextauthjs/next-auth src/providers/atlassian.js (the account)",
    ],
    checks: {
      scopeMeanings: {
        checkedOn: "2026-11-27",
        source: "https://developer.atlassian.com/cloud/jira/platform/scopes-for-oauth-2-3LO-and-forge-apps/",
      },
    },
  },
};
