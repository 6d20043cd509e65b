/**
 * An MCP server made from the template: its authorization server, and its resource server. Part of
 * list.ts.
 */
import { HOSTED, notOurs, type Requirement, row, SCENARIOS, twin } from "./requirement.ts";

const AUTHENTICATE = "packages/mcp-auth/src/pre-registered/authenticate.test.ts";
const APP = "packages/mcp-auth/src/app.test.ts";
const TWINS = "packages/mcp-auth/src/resource-server.twin.test.ts";
const MCP = "packages/mcp-auth/src/mcp";

const OWN_CALLBACK = `${HOSTED}/server-callback`;

export const AUTHORIZATION_SERVER: readonly Requirement[] = [
  twin(
    "AS-1",
    "A client is unknown, or its redirect URI is nearly a registered one. The answer is a page with 400, never a redirect.",
    `${HOSTED}/platform-callback/platform-callback.twin.test.ts`,
    `${HOSTED}/platform-callback/authorize.test.ts`,
    `${OWN_CALLBACK}/authorize-errors.test.ts`,
    `${OWN_CALLBACK}/attacks.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
  ),
  row(
    "AS-2",
    "An authorization request has no PKCE challenge, or one of another method. The client gets an error, and no flow begins.",
    `${OWN_CALLBACK}/authorize-errors.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
  ),
  twin(
    "AS-3",
    "A code is redeemed without its verifier, with a wrong one, or a malformed one. It is refused.",
    `${HOSTED}/platform-callback/platform-callback.twin.test.ts`,
    `${HOSTED}/platform-callback/redeem-vendor-code.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
  ),
  twin(
    "AS-4",
    "A code is used again, at once or later, or by another client. It gives one session; its second use ends that one, and a caller that cannot prove to be the client ends nothing.",
    `${HOSTED}/platform-callback/platform-callback.twin.test.ts`,
    `${HOSTED}/platform-callback/vendor-code.test.ts`,
    `${OWN_CALLBACK}/redeem-own-code.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
  ),
  row("AS-5", "A code of the server is used after a minute. It is refused.", `${OWN_CALLBACK}/redeem-own-code.test.ts`),
  row(
    "AS-6",
    "A token request fails for a reason the client can mend. The code stays good.",
    `${HOSTED}/platform-callback/redeem-vendor-code.test.ts`,
    `${OWN_CALLBACK}/redeem-own-code.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
  ),
  twin(
    "AS-7",
    "A client with a redirect URI of the attacker's relies on a vendor that no longer asks. Our page names the client, its host and scopes, and nothing continues without the user's consent.",
    `${OWN_CALLBACK}/server-callback.twin.test.ts`,
    `${OWN_CALLBACK}/attacks.test.ts`,
    `${OWN_CALLBACK}/consent-page.test.ts`,
    `${SCENARIOS}/mcp/consent.test.ts`,
  ),
  twin(
    "AS-8",
    "An attacker consents in the attacker's own browser and sends the victim the vendor's URL. Only the browser in which consent was given can continue after the vendor.",
    `${OWN_CALLBACK}/server-callback.twin.test.ts`,
    `${OWN_CALLBACK}/attacks.test.ts`,
    `${SCENARIOS}/mcp/consent.test.ts`,
  ),
  twin(
    "AS-9",
    "A user's consent for one client is used by another client, or by the same one with other redirect URIs. The user is asked again.",
    `${OWN_CALLBACK}/server-callback.twin.test.ts`,
    `${OWN_CALLBACK}/attacks.test.ts`,
    `${HOSTED}/clients/metadata-document.test.ts`,
  ),
  row(
    "AS-10",
    "A client's name or links hold markup, direction overrides, scripts or images. The page shows them escaped and shortened, without effect.",
    `${OWN_CALLBACK}/consent-page.test.ts`,
  ),
  row(
    "AS-11",
    "A client registers with redirect URIs that are scripts, plain http, have fragments, or with more than it may. The registration is refused.",
    `${HOSTED}/clients/registration.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
  ),
  row(
    "AS-12",
    "Registrations come without end. They are limited, and those that are not used end by themselves.",
    `${HOSTED}/clients/registration.test.ts`,
  ),
  twin(
    "AS-13",
    "A client's metadata document is at an invalid or private address, redirects, is too large, or is another's. It is refused, and failures are not remembered.",
    `${OWN_CALLBACK}/server-callback.twin.test.ts`,
    `${HOSTED}/clients/metadata-document.test.ts`,
    `${HOSTED}/clients/metadata-document-network.test.ts`,
  ),
  twin(
    "AS-14",
    "A refresh token is retried after a lost answer, replayed later, or brought by another client. The retry gets the same answer, an older one ends the session, another client gets nothing and ends nothing.",
    `${HOSTED}/sessions/sessions.twin.test.ts`,
    `${HOSTED}/sessions/session-attacks.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
    `${SCENARIOS}/mcp-processes/two-processes-dynamodb.test.ts`,
  ),
  notOurs(
    "AS-15",
    "A confidential client refreshes without its secret. It is refused.",
    "Every client is public; a secret is refused",
  ),
  row(
    "AS-16",
    "A request names no resource, another's, two, or one with a fragment. Ours is the default and the only one.",
    `${HOSTED}/platform-callback/redeem-vendor-code.test.ts`,
    `${HOSTED}/platform-callback/authorize.test.ts`,
  ),
  row(
    "AS-17",
    "A client looks for metadata. It says what there is, at the standard's places, by DEPLOYMENT_URL.",
    `${HOSTED}/metadata.test.ts`,
    `${SCENARIOS}/mcp/hosted.test.ts`,
  ),
  row(
    "AS-18",
    "A client talks to several servers. Every answer on its redirect URI names ours, once.",
    `${OWN_CALLBACK}/connect.test.ts`,
    `${OWN_CALLBACK}/authorize-errors.test.ts`,
  ),
  row(
    "AS-19",
    "A client sends request objects, other response types or modes. Each is refused by its name.",
    `${OWN_CALLBACK}/authorize-errors.test.ts`,
    `${HOSTED}/platform-callback/authorize.test.ts`,
  ),
  row(
    "AS-20",
    "A token request is a GET, JSON, or names its client twice. Only one form with one client is accepted.",
    `${HOSTED}/platform-callback/redeem-vendor-code.test.ts`,
  ),
  row(
    "AS-21",
    "A client revokes another client's token, or an invalid one. The answer is 200 where the standard says so, and nothing else ends.",
    `${HOSTED}/token/revoke.test.ts`,
    `${HOSTED}/sessions/session-revocation.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
  ),
  row(
    "AS-22",
    "The user or the vendor declines. The client gets `access_denied` with its own state.",
    `${OWN_CALLBACK}/connect.test.ts`,
    `${SCENARIOS}/mcp/hosted.test.ts`,
  ),
];

export const RESOURCE_SERVER: readonly Requirement[] = [
  row(
    "RS-1",
    "A call of /mcp has no token. The answer is 401 with a challenge that says where to get one.",
    `${MCP}/endpoint.test.ts`,
    APP,
    `${SCENARIOS}/mcp/pre-registered.test.ts`,
  ),
  twin(
    "RS-2",
    "A call has a token that is malformed, expired, revoked, another server's, a refresh token or the vendor's. It is 401; in pre-registered mode a token passes when the vendor vouches for it. Ours are never forwarded.",
    `${HOSTED}/sessions/sessions.twin.test.ts`,
    `${HOSTED}/sessions/session-attacks.test.ts`,
    AUTHENTICATE,
    `${SCENARIOS}/mcp/hosted.test.ts`,
    `${MCP}/endpoint.test.ts`,
  ),
  row(
    "RS-3",
    "A token has too little scope for a tool. The answer is 403 and names all that the call needs.",
    `${MCP}/endpoint.test.ts`,
  ),
  row(
    "RS-4",
    "A token is in the query. It is not read.",
    `${MCP}/endpoint.test.ts`,
    `${SCENARIOS}/mcp/pre-registered.test.ts`,
  ),
  row(
    "RS-5",
    "A caller guesses the session id of another. A session id is no authentication: with one vendor the server issues none, with several it says only what its own client can show.",
    `${MCP}/elicitation/attacks.test.ts`,
    `${SCENARIOS}/mcp/errors.test.ts`,
  ),
  row("RS-6", "One server object serves two callers. No two requests share one.", `${MCP}/endpoint.test.ts`),
  twin(
    "RS-7",
    "A page reaches the server under another name (DNS rebinding), or posts from another site. A foreign Host or Origin is 403.",
    TWINS,
    `${MCP}/admission/known-host.test.ts`,
    APP,
    `${SCENARIOS}/mcp/routes.test.ts`,
  ),
  twin(
    "RS-8",
    "Calls of many users run at once, with caches on. No user is answered as another.",
    TWINS,
    AUTHENTICATE,
    `${SCENARIOS}/mcp-processes/two-processes-dynamodb.test.ts`,
  ),
  row(
    "RS-9",
    "The MCP SDK has known holes. The lockfile holds releases that closed them.",
    "tooling/src/repository/lockfile.test.ts",
  ),
];
