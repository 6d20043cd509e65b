/**
 * Slack, the pair for user tokens: its MCP server takes no others. Facts of 2026-11-21 from the
 * sources below; recalled, not observed: the list of error codes, the bodies of `auth.revoke`, and
 * the header that lists a token's scopes.
 *
 * Every response is a 200, errors with `ok: false`. The token set is in `authed_user`, its type is
 * `user`, scopes are comma-separated and must not be empty. Tokens expire and rotate only if the
 * app has rotation on, and are refreshed at another endpoint than codes are redeemed at. A
 * workspace may hold an app back until an administrator approves it: the user is then not sent to
 * the callback.
 *
 * PKCE is a setting of an app, one-way, which makes it a public client and ends its refresh tokens
 * after 30 days. An app with the setting off and a secret may send a challenge: two public clients of
 * the MCP server do. With the setting on, a verifier beside the secret was answered `internal_error`
 * at the OpenID pair, so the operator of such an app says `pkce: none`.
 */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

export const slack: RegistryEntry = {
  vendor: defineVendor({
    id: "slack",
    name: "Slack",
    issuer: "https://mcp.slack.com",
    authorizationEndpoint: "https://slack.com/oauth/v2_user/authorize",
    tokenEndpoint: "https://slack.com/api/oauth.v2.user.access",
    refreshEndpoint: "https://slack.com/api/oauth.v2.access",
    revocationEndpoint: "https://slack.com/api/auth.revoke",
    revocation: {
      method: "POST",
      authentication: "bearer",
      body: "none",
      tokenParameter: "token",
      ends: "token",
      goneStatuses: [],
      goneErrors: ["invalid_auth", "account_inactive", "token_revoked", "token_expired"],
    },
    // The same two members as in `auth.test`, so that no request is needed.
    identity: { from: "token_response", members: ["team.id", "authed_user.id"] },
    account: {
      endpoint: "https://slack.com/api/auth.test",
      method: "POST",
      refusal: {
        member: "error",
        values: ["not_authed", "invalid_auth", "account_inactive", "token_revoked", "token_expired"],
      },
      identity: ["team_id", "user_id"],
      scopeHeader: "x-oauth-scopes",
    },
    apiHosts: ["slack.com", "mcp.slack.com"],
    scopeRefusal: {
      from: "body",
      status: 200,
      member: "error",
      values: ["missing_scope"],
      scopes: "needed",
      separator: ",",
    },
    scopeSeparator: ",",
    defaultScopes: ["users:read", "search:read.public"],
    scopeMeanings: {
      "users:read": "See the members of the workspace",
      "users:read.email": "See the email addresses of the members of the workspace",
      "search:read.public": "Search in public channels",
      "search:read.private": "Search in private channels that you are in",
      "search:read.im": "Search in your direct messages",
      "search:read.mpim": "Search in your group direct messages",
      "search:read.files": "Search in files",
      "search:read.users": "Search for members of the workspace",
      "channels:read": "See public channels and their details",
      "channels:history": "Read messages in public channels",
      "groups:read": "See private channels that you are in",
      "groups:history": "Read messages in private channels that you are in",
      "im:history": "Read your direct messages",
      "mpim:history": "Read your group direct messages",
      "chat:write": "Send messages in your name",
      "files:read": "See files that are shared with you",
      "reactions:write": "Add and change reactions in your name",
      "canvases:read": "Read canvases",
      "canvases:write": "Create, change and remove canvases",
    },
    authorizationCodeLifetimeSeconds: 600,
    tokenEndpointAuthMethod: "client_secret_post",
    tokenResponseMember: "authed_user",
    issuesIdTokens: false,
    issRequired: false,
    rotatesRefreshTokens: true,
    revokes: "access_token",
    tokenErrors: {
      invalid_code: "invalid_grant",
      code_already_used: "invalid_grant",
      code_expired: "invalid_grant",
      invalid_refresh_token: "invalid_grant",
      token_expired: "invalid_grant",
      token_revoked: "invalid_grant",
      bad_client_secret: "vendor_credentials_rejected",
      invalid_client_id: "vendor_credentials_rejected",
      invalid_scope: "invalid_scope",
      ratelimited: "temporarily_unavailable",
      internal_error: "temporarily_unavailable",
    },
  }),
  placeholders: {},
  setup: "none",
  byoc: true,
  serverUrl: "https://mcp.slack.com/mcp",
  verification: {
    status: "first-class",
    checkedOn: "2026-11-21",
    sources: [
      "NangoHQ/nango@2f4c0af packages/providers/providers.yaml#slack-mcp",
      "https://docs.slack.dev/authentication/using-token-rotation",
      "https://api.slack.com/methods/auth.test",
      "elementary-data/elementary pull request 705",
      "https://devopsaitoolkit.com/blog/slack-error-missing-scope/",
      "https://gitlab.com/gitlab-org/gitlab/-/merge_requests/259717",
      "https://docs.litellm.ai/docs/mcp_servers/slack",
      "https://docs.slack.dev/authentication/using-pkce",
      "open-legal-products/mike pull request 346 (a secret and a challenge)",
      "paradigmxyz/centaur pull request 1101 (a secret and a verifier with the setting on)",
    ],
    checks: {
      scopeMeanings: {
        checkedOn: "2026-11-27",
        source: "https://docs.slack.dev/ai/slack-mcp-server/developing#add-scopes",
      },
    },
  },
};
