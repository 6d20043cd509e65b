/**
 * Linear, the authorization server of its MCP server; clients register themselves there. Facts of
 * 2026-11-21 from the sources below; recalled, not seen: how long access tokens live, and that a
 * refresh token replayed within a short window answers with the same pair again.
 *
 * Tokens are revoked at the token endpoint. Newer metadata advertises `iss` on the callback, so
 * metadata is asked.
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

const SERVER_URL = "https://mcp.linear.app/mcp";

export const linear: RegistryEntry = {
  vendor: defineVendor({
    id: "linear",
    name: "Linear",
    issuer: "https://mcp.linear.app",
    serverUrl: SERVER_URL,
    authorizationEndpoint: "https://mcp.linear.app/authorize",
    tokenEndpoint: "https://mcp.linear.app/token",
    revocationEndpoint: "https://mcp.linear.app/token",
    registrationEndpoint: "https://mcp.linear.app/register",
    // The GraphQL API has a viewer; whether it takes tokens of the MCP server was not observed.
    identity: "unknown",
    apiHosts: ["mcp.linear.app"],
    defaultScopes: ["read"],
    scopeMeanings: {
      read: "Read everything that you can see",
      write: "Change everything that you can change",
      "issues:create": "Create issues and their attachments",
      "comments:create": "Write comments on issues",
      "timeSchedule:write": "Create and change time schedules",
      admin: "Do everything that an administrator can do",
    },
    // The old refresh token stays valid for a while: a lost response can be requested again.
    rotatesRefreshTokens: false,
  }),
  placeholders: {},
  setup: "none",
  byoc: false,
  serverUrl: SERVER_URL,
  verification: {
    status: "first-class",
    checkedOn: "2026-11-21",
    sources: [
      "NangoHQ/nango@2f4c0af packages/providers/providers.yaml#linear-mcp",
      "https://mcp.linear.app/.well-known/oauth-authorization-server (as recorded 2026-09)",
      "https://linear.app/developers/oauth-2-0-authentication",
    ],
    checks: {
      scopeMeanings: { checkedOn: "2026-11-27", source: "https://linear.app/developers/oauth-2-0-authentication" },
    },
  },
};
