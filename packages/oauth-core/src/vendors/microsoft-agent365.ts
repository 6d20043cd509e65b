/**
 * Microsoft Agent 365 and Power Platform: one multitenant Entra app of the broker's operator for everybody. Facts of
 * 2026-11-21 from the sources below; recalled, not seen: the 90 days of refresh tokens, and the issuer of ID tokens.
 *
 * A tenant's administrator consents once, and the organization names its environment, which is part of the server's URL. The
 * scopes belong to one resource, the Agent 365 Tools. A refresh answers with a new refresh token and leaves the old one
 * alive. There is no revocation. The issuer of an ID token names the user's tenant.
 */
import type { RegistryEntry } from "./registry-entry.ts";
import { defineVendor } from "./vendor.ts";

const AGENT_365_TOOLS = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1";
const GUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";

export const microsoftAgent365: RegistryEntry = {
  vendor: defineVendor({
    id: "microsoft-agent365",
    name: "Microsoft Agent 365",
    issuer: "https://login.microsoftonline.com/{tenantid}/v2.0",
    issuerTemplate: { placeholder: "tenantid", claim: "tid", pattern: GUID },
    authorizationEndpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize",
    tokenEndpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token",
    jwksUri: "https://login.microsoftonline.com/{tenant}/discovery/v2.0/keys",
    userinfoEndpoint: "https://graph.microsoft.com/oidc/userinfo",
    // Whatever the tenant's administrator has consented to.
    defaultScopes: ["openid", "profile", `${AGENT_365_TOOLS}/.default`],
    offlineScopes: ["offline_access"],
    // AADSTS901002: the parameter is refused; scopes name the resource.
    resource: "omit",
    authorizationParams: { response_mode: "query" },
    tokenEndpointAuthMethod: "client_secret_post",
    idTokenAlgs: ["RS256"],
    rotatesRefreshTokens: false,
    revocationHelp:
      "Open myapps.microsoft.com and remove this app there, or ask the administrator of the tenant to remove the enterprise app",
    // Observed where `consent_required` is documented.
    classifyError: ({ suberror }) => (suberror === "consent_required" ? suberror : undefined),
    tokenErrors: {
      // The person has to come again: for consent, a second factor, a policy.
      interaction_required: "invalid_grant",
      access_denied: "invalid_grant",
      consent_required: "invalid_grant",
      // The tenant does not have what the scopes name: its administrator has to enable it first.
      invalid_resource: "invalid_scope",
    },
  }),
  placeholders: {
    // Everybody's tenant at first; once it is known (`tid`), its own path is the narrower one.
    tenant: { pattern: `organizations|${GUID}`, default: "organizations" },
    environment_id: { pattern: `(?:Default-)?${GUID}` },
    server_name: { pattern: "[A-Za-z][A-Za-z0-9_]{0,63}" },
  },
  setup: "environment_id",
  byoc: false,
  serverUrl: "https://agent365.svc.cloud.microsoft/mcp/environments/{environment_id}/servers/{server_name}",
  verification: {
    status: "first-class",
    checkedOn: "2026-11-21",
    sources: [
      "MicrosoftDocs/entra-docs@0c1ac84 docs/identity-platform/v2-oauth2-auth-code-flow.md",
      "SocialiteProviders/Providers@47679c1 src/Azure/Provider.php",
      "Microsoft Agent 365 SDK (the scopes' resource)",
      "Dynamics 365 documentation (the server's URL)",
    ],
  },
};
