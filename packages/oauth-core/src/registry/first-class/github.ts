/**
 * GitHub, OAuth apps and GitHub Apps alike. Facts of 2026-11-21 from the sources below; recalled,
 * not seen: that 404 and 422 answer a token that is gone, `bad_refresh_token`,
 * `application_suspended`, the members of the check of a token, and the header of the account that
 * lists scopes.
 *
 * Errors come inside a 200. Scopes are asked with spaces and answered with commas, more of them
 * than asked if older grants merge. Tokens expire only if the app says so, or
 * `offline_access` was asked; a refresh then ends the old pair at once. Scopes of a GitHub App are
 * ignored: its installation decides.
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

export const github: RegistryEntry = {
  vendor: defineVendor({
    id: "github",
    name: "GitHub",
    issuer: "https://github.com/login/oauth",
    authorizationEndpoint: "https://github.com/login/oauth/authorize",
    tokenEndpoint: "https://github.com/login/oauth/access_token",
    // A login can be given to another user one day, the id cannot.
    account: {
      endpoint: "https://api.github.com/user",
      method: "GET",
      identity: ["id"],
      scopeHeader: "x-oauth-scopes",
    },
    tokenCheck: {
      endpoint: "https://api.github.com/applications/{client_id}/token",
      method: "POST",
      authentication: "basic",
      tokenParameter: "access_token",
      inactiveStatuses: [404, 422],
      client: ["app.client_id"],
      identity: ["user.id"],
      scope: "scopes",
      expiry: { member: "expires_at", unit: "date" },
    },
    apiHosts: ["api.github.com", "api.githubcopilot.com"],
    // A 404 names accepted scopes too, whether or not there is anything to see.
    scopeRefusal: {
      from: "headers",
      status: 403,
      accepted: "x-accepted-oauth-scopes",
      granted: "x-oauth-scopes",
      separator: ",",
    },
    // `/grant` instead of `/token` would revoke every token of this user and app, including other
    // connections.
    revocationEndpoint: "https://api.github.com/applications/{client_id}/token",
    revocation: {
      method: "DELETE",
      authentication: "basic",
      body: "json",
      tokenParameter: "access_token",
      ends: "token",
      goneStatuses: [404, 422],
    },
    defaultScopes: ["read:user"],
    scopeMeanings: {
      repo: "Read and change all repositories you can reach, private ones too, and their settings",
      public_repo: "Read and change public repositories that you can reach",
      "repo:status": "Read and set commit statuses, without the code",
      "read:user": "Read your profile",
      user: "Read and change your profile, with your email addresses",
      "user:email": "Read your email addresses",
      "read:org": "See your organizations and teams",
      "write:org": "Change members and projects of your organizations",
      "admin:org": "Manage your organizations, their teams and members",
      gist: "Create and change your gists",
      notifications: "Read your notifications, and mark them as read",
      project: "Read and change projects, yours and those of organizations",
      "read:project": "Read projects, yours and those of organizations",
      workflow: "Add and change workflows of GitHub Actions",
      "read:packages": "Download packages",
      "write:packages": "Publish packages",
      "admin:repo_hook": "Manage webhooks of repositories",
      delete_repo: "Delete repositories that you administer",
    },
    authorizationCodeLifetimeSeconds: 600,
    tokenEndpointAuthMethod: "client_secret_post",
    issuesIdTokens: false,
    issRequired: false,
    rotatesRefreshTokens: true,
    revokes: "access_token",
    tokenErrors: {
      incorrect_client_credentials: "vendor_credentials_rejected",
      bad_verification_code: "invalid_grant",
      bad_refresh_token: "invalid_grant",
      // The user has to verify the e-mail address there, and then connect again.
      unverified_user_email: "invalid_grant",
    },
    callbackErrors: { application_suspended: "vendor_credentials_rejected" },
    callbackParams: ["installation_id", "setup_action"],
  }),
  placeholders: {},
  setup: "none",
  byoc: true,
  serverUrl: "https://api.githubcopilot.com/mcp/",
  verification: {
    status: "first-class",
    checkedOn: "2026-11-21",
    sources: [
      "github/docs@029b09a content/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps.md",
      "github/docs@058fa63 content/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors.md",
      "github/docs@2e15944 content/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens.md",
      "https://docs.github.com/en/enterprise-server@3.11/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps",
      "https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication",
      "https://github.com/orgs/community/discussions/204963",
      "npm @octokit/oauth-methods@6.0.5 dist-src/delete-token.js",
      "npm @octokit/oauth-methods@5.1.4 dist-src/check-token.js",
      "NangoHQ/nango@2f4c0af packages/providers/providers.yaml#github",
    ],
    checks: {
      scopeMeanings: {
        checkedOn: "2026-11-27",
        source: "github/docs@0460e40 content/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps.md",
      },
    },
  },
};
