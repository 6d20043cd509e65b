/**
 * Microsoft Agent 365 and Power Platform: one multitenant Entra app, the operator's, for all
 * tenants. Facts of 2026-11-21 from the sources below; recalled, not observed: the 90 days of
 * refresh tokens, the issuer of ID tokens, and that `tid` with `oid` names a user, while `sub`
 * differs from app to app.
 *
 * A tenant's administrator consents once, and the organization names its environment, which is part
 * of the server's URL. The scopes belong to one resource, the Agent 365 Tools. A refresh returns a
 * new refresh token and leaves the old token valid. Tokens cannot be revoked. The issuer of an ID
 * token names the user's tenant. An AADSTS number carries the cause of an error, of which `error`
 * keeps little: missing administrator consent looks like a user who has cancelled.
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import type { JsonObject } from "../../ports.ts";
import { defineVendor } from "../vendor.ts";

const AGENT_365_TOOLS = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1";
const GUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";

const ADMIN_CONSENT = {
  reason: "admin_consent_required",
  description: "An administrator of the tenant must consent to this app at the vendor first; then connect again",
};
const NOT_ASSIGNED = {
  reason: "user_not_assigned",
  description:
    "An administrator of the tenant must assign the user to this app at the vendor first; then connect again",
};

/**
 * Numbers that say more than the `error` beside them, or that come with an `error` other than the
 * documented one.
 */
const BY_NUMBER: ReadonlyMap<string, string> = new Map([
  ["50076", "interaction_required"],
  ["50079", "interaction_required"],
  ["53003", "interaction_required"],
  ["65001", "consent_required"],
  ["50105", "AADSTS50105"],
  ["90094", "AADSTS90094"],
  ["900941", "AADSTS900941"],
]);

/**
 * In a body the number is in `error_codes`; on the callback it is in the text, and in the URL of
 * the text's page.
 */
function classifyError({ error_codes: codes, error_description: text, error_uri: page, suberror }: JsonObject) {
  const listed: unknown = Array.isArray(codes) ? codes[0] : codes;
  const number =
    /^\d+$/.exec(typeof listed === "number" || typeof listed === "string" ? String(listed) : "")?.[0] ??
    /\bAADSTS(\d+)/.exec(typeof text === "string" ? text : "")?.[1] ??
    /[?&]code=(\d+)/.exec(typeof page === "string" ? page : "")?.[1] ??
    "";
  // The number was observed in cases for which `consent_required` is documented.
  return BY_NUMBER.get(number) ?? (suberror === "consent_required" ? suberror : undefined);
}

export const microsoftAgent365: RegistryEntry = {
  vendor: defineVendor({
    id: "microsoft-agent365",
    name: "Microsoft Agent 365",
    issuer: "https://login.microsoftonline.com/{tenantid}/v2.0",
    choosesAccount: true,
    issuerTemplate: { placeholder: "tenantid", claim: "tid", pattern: GUID, pinnedBy: "tenant" },
    authorizationEndpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize",
    tokenEndpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token",
    jwksUri: "https://login.microsoftonline.com/{tenant}/discovery/v2.0/keys",
    // An account endpoint does not exist: userinfo belongs to Graph and takes no token of another
    // resource.
    identity: { from: "id_token", members: ["tid", "oid"] },
    apiHosts: ["agent365.svc.cloud.microsoft"],
    // Everything the tenant's administrator has consented to.
    defaultScopes: ["openid", "profile", `${AGENT_365_TOOLS}/.default`],
    offlineScopes: ["offline_access"],
    // AADSTS901002: the parameter is refused; scopes name the resource.
    resource: "omit",
    authorizationParams: { response_mode: "query" },
    tokenEndpointAuthMethod: "client_secret_post",
    // Better than a secret for an app that many tenants trust.
    clientAssertion: { alg: "PS256" },
    idTokenAlgs: ["RS256"],
    rotatesRefreshTokens: false,
    revocationHelp:
      "Open myapps.microsoft.com and remove this app there, or ask the administrator of the tenant to remove the enterprise app",
    classifyError,
    tokenErrors: {
      AADSTS50105: { code: "invalid_grant", ...NOT_ASSIGNED },
      AADSTS90094: { code: "invalid_grant", ...ADMIN_CONSENT },
      AADSTS900941: { code: "invalid_grant", ...ADMIN_CONSENT },
      // The user has to connect again: for consent, a second factor, a policy.
      interaction_required: "invalid_grant",
      access_denied: "invalid_grant",
      consent_required: "invalid_grant",
      // The tenant does not have what the scopes name: its administrator has to enable it first.
      invalid_resource: "invalid_scope",
    },
    callbackErrors: {
      AADSTS50105: { code: "access_denied", ...NOT_ASSIGNED },
      // The vendor says `access_denied` although the user has not cancelled.
      AADSTS90094: { code: "server_error", ...ADMIN_CONSENT },
      AADSTS900941: { code: "server_error", ...ADMIN_CONSENT },
      invalid_resource: "invalid_scope",
    },
  }),
  placeholders: {
    // All tenants at first; once the tenant is known (`tid`), its own path is the narrower one.
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
      "https://learn.microsoft.com/entra/identity-platform/certificate-credentials",
      "SocialiteProviders/Providers@47679c1 src/Azure/Provider.php",
      "Microsoft Agent 365 SDK (the scopes' resource)",
      "Dynamics 365 documentation (the server's URL)",
    ],
  },
};
