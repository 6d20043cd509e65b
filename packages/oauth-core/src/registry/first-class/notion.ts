/**
 * Notion, the authorization server of its MCP server; clients register themselves there. Facts of
 * 2026-11-21 from the sources below; not seen: whether refresh tokens rotate, so they are taken to.
 *
 * One scope, `default`: the user picks pages. Tokens are revoked at the token endpoint. The
 * protected resource is the bare origin although the server is at `/mcp`.
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

const SERVER_URL = "https://mcp.notion.com/mcp";

export const notion: RegistryEntry = {
  vendor: defineVendor({
    id: "notion",
    name: "Notion",
    issuer: "https://mcp.notion.com",
    serverUrl: SERVER_URL,
    authorizationEndpoint: "https://mcp.notion.com/authorize",
    tokenEndpoint: "https://mcp.notion.com/token",
    revocationEndpoint: "https://mcp.notion.com/token",
    registrationEndpoint: "https://mcp.notion.com/register",
    introspectionEndpoint: "https://mcp.notion.com/introspect",
    // Observed for the API's own flow: its response names the owner. Not observed for the MCP
    // server's flow, nor for introspection.
    identity: "unknown",
    apiHosts: ["mcp.notion.com"],
    defaultScopes: ["default"],
    scopeMeanings: {
      default: "Read and change the content that you can reach in Notion",
    },
    issuesIdTokens: false,
    rotatesRefreshTokens: true,
  }),
  placeholders: {},
  setup: "none",
  byoc: false,
  serverUrl: SERVER_URL,
  verification: {
    status: "first-class",
    checkedOn: "2026-11-21",
    sources: [
      "NangoHQ/nango@2f4c0af packages/providers/providers.yaml#notion-mcp",
      "https://mcp.notion.com/.well-known/oauth-authorization-server (as recorded 2026-09)",
    ],
    checks: { scopeMeanings: { checkedOn: "2026-11-27", source: "https://developers.notion.com/docs/mcp" } },
  },
};
