/**
 * Google Workspace: Gmail, Drive, Calendar, Chat and `People`, each with a separate MCP server,
 * all behind one authorization server. Facts of 2026-11-21 from the sources below; recalled, not
 * seen: the codes of failed revocations, `invalid_rapt`, and that tokeninfo answers 400 to a token
 * that is not good.
 *
 * In preview: the organization's Cloud project must be admitted before a flow makes sense. A
 * refresh token comes with `access_type=offline` and a consent page only, and stays. Granted scopes
 * may be fewer than asked. Revoking any token ends the whole grant.
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

export const googleWorkspace: RegistryEntry = {
  vendor: defineVendor({
    id: "google-workspace",
    name: "Google Workspace",
    issuer: "https://accounts.google.com",
    choosesAccount: true,
    issuerSpelling: "bare",
    authorizationEndpoint: "https://accounts.google.com/o/oauth2/v2/auth",
    tokenEndpoint: "https://oauth2.googleapis.com/token",
    jwksUri: "https://www.googleapis.com/oauth2/v3/certs",
    userinfoEndpoint: "https://openidconnect.googleapis.com/v1/userinfo",
    tokenCheck: {
      endpoint: "https://oauth2.googleapis.com/tokeninfo",
      method: "POST",
      authentication: "bearer",
      inactiveStatuses: [400, 401],
      client: ["azp", "aud"],
      // With `openid` only.
      identity: ["sub"],
      scope: "scope",
      expiry: { member: "exp", unit: "seconds" },
    },
    apiHosts: [".googleapis.com"],
    scopeRefusal: { from: "challenge" },
    revocationEndpoint: "https://oauth2.googleapis.com/revoke",
    revocation: {
      method: "POST",
      authentication: "none",
      body: "form",
      tokenParameter: "token",
      ends: "grant",
      goneStatuses: [],
    },
    defaultScopes: ["openid"],
    authorizationParams: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" },
    tokenEndpointAuthMethod: "client_secret_post",
    rotatesRefreshTokens: false,
    // The organization's session policy: a distinct reason for an invalid_grant.
    classifyError: ({ error_subtype: subtype }) => (subtype === "invalid_rapt" ? subtype : undefined),
    tokenErrors: { invalid_rapt: "invalid_grant", admin_policy_enforced: "invalid_grant" },
  }),
  placeholders: { service: { values: ["gmailmcp", "drivemcp", "calendarmcp", "chatmcp", "people"] } },
  setup: "vendor_approval",
  byoc: false,
  serverUrl: "https://{service}.googleapis.com/mcp/v1",
  verification: {
    status: "first-class",
    checkedOn: "2026-11-21",
    sources: [
      "NangoHQ/nango@2f4c0af packages/providers/providers.yaml#google",
      "https://accounts.google.com/.well-known/oauth-authorization-server (as recorded 2026-07)",
      "npm google-auth-library@10.9.1 build/src/auth/oauth2client.js",
      "kevinstrax/hanon-uta src/types/token-info.d.ts",
      "kwent/react-google-contacts issue 6",
      "https://docs.zeta-alpha.com/gen-ai/customize/guides/configuring-capabilities/connecting-mcp-servers/how-to-connect-google-workspace",
    ],
  },
};
