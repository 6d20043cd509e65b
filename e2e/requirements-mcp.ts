/** The MCP server as authorization server and as resource server: what of the security bar rests on it. Part of requirements.ts. */
import { elsewhere, type Requirement, row, twin } from "./requirement.ts";

const SCENARIOS = "e2e/scenarios";
const HOSTED = "packages/mcp-auth/src/hosted";
const OWN_CALLBACK = `${HOSTED}/server-callback`;
const MCP = "packages/mcp-auth/src/mcp";
const GATE = "packages/mcp-auth/src/pre-registered/gate.test.ts";
const APP = "packages/mcp-auth/src/app.test.ts";
const TWINS = "packages/mcp-auth/src/resource-server.twin.test.ts";

const AUTHORIZATION_SERVER: readonly Requirement[] = [
  twin(
    "AS-1",
    "An unknown client or redirect URI is a page, never a redirect",
    `${HOSTED}/hosted.twin.test.ts`,
    `${HOSTED}/authorize.test.ts`,
    `${OWN_CALLBACK}/authorize-errors.test.ts`,
    `${OWN_CALLBACK}/attacks.test.ts`,
    `${SCENARIOS}/mcp-bad-authorize.test.ts`,
  ),
  row(
    "AS-2",
    "PKCE #1 is there and S256, or the client hears of it",
    `${OWN_CALLBACK}/authorize-errors.test.ts`,
    `${SCENARIOS}/mcp-bad-authorize.test.ts`,
  ),
  twin(
    "AS-3",
    "A code is worth nothing without its verifier",
    `${HOSTED}/hosted.twin.test.ts`,
    `${HOSTED}/token.test.ts`,
    `${SCENARIOS}/mcp-bad-token.test.ts`,
  ),
  twin(
    "AS-4",
    "A code gives one session, and its second use ends it; who cannot prove it ends nothing",
    `${HOSTED}/hosted.twin.test.ts`,
    `${HOSTED}/code-once.test.ts`,
    `${OWN_CALLBACK}/redeem-own-code.test.ts`,
    `${SCENARIOS}/mcp-bad-token.test.ts`,
  ),
  row("AS-5", "A code of ours lives a minute", `${OWN_CALLBACK}/redeem-own-code.test.ts`),
  row(
    "AS-6",
    "What the client can mend does not spend its code",
    `${HOSTED}/token.test.ts`,
    `${OWN_CALLBACK}/redeem-own-code.test.ts`,
    `${SCENARIOS}/mcp-bad-token.test.ts`,
  ),
  twin(
    "AS-7",
    "No client gets anything the user has not agreed to on our page",
    `${OWN_CALLBACK}/server-callback.twin.test.ts`,
    `${OWN_CALLBACK}/attacks.test.ts`,
    `${OWN_CALLBACK}/consent-page.test.ts`,
    `${SCENARIOS}/mcp-consent.test.ts`,
  ),
  twin(
    "AS-8",
    "Only the browser that agreed comes back from the vendor",
    `${OWN_CALLBACK}/server-callback.twin.test.ts`,
    `${OWN_CALLBACK}/attacks.test.ts`,
    `${SCENARIOS}/mcp-consent.test.ts`,
  ),
  twin(
    "AS-9",
    "What was agreed to for one client, or for what it was then, is asked again",
    `${OWN_CALLBACK}/server-callback.twin.test.ts`,
    `${OWN_CALLBACK}/attacks.test.ts`,
    `${OWN_CALLBACK}/client-metadata-document.test.ts`,
  ),
  row(
    "AS-10",
    "Nothing a client calls itself does more than stand on the page",
    `${OWN_CALLBACK}/consent-page.test.ts`,
  ),
  row(
    "AS-11",
    "Registration takes redirect URIs that lead to a client, and nothing else",
    `${OWN_CALLBACK}/registration.test.ts`,
    `${SCENARIOS}/mcp-bad-token.test.ts`,
  ),
  row("AS-12", "Registrations are limited, and those nobody uses end", `${OWN_CALLBACK}/registration.test.ts`),
  twin(
    "AS-13",
    "A client's document is fetched from where it may be, and believed only where it says what it must",
    `${OWN_CALLBACK}/server-callback.twin.test.ts`,
    `${OWN_CALLBACK}/client-metadata-document.test.ts`,
    `${OWN_CALLBACK}/client-metadata-network.test.ts`,
  ),
  twin(
    "AS-14",
    "A refresh token has one successor; its retry gets the same, its ancestors end the family",
    `${HOSTED}/sessions.twin.test.ts`,
    `${HOSTED}/session-attacks.test.ts`,
    `${SCENARIOS}/mcp-bad-token.test.ts`,
    `${SCENARIOS}/mcp-two-processes-dynamodb.test.ts`,
  ),
  elsewhere(
    "AS-15",
    "A confidential client proves itself at every request",
    "Every client is public; a secret is refused",
  ),
  row(
    "AS-16",
    "Our resource is the only one, and the default",
    `${HOSTED}/token.test.ts`,
    `${SCENARIOS}/mcp-bad-authorize.test.ts`,
    `${SCENARIOS}/mcp-bad-token.test.ts`,
  ),
  row(
    "AS-17",
    "Metadata says what there is, by DEPLOYMENT_URL",
    `${HOSTED}/metadata.test.ts`,
    `${SCENARIOS}/mcp-hosted.test.ts`,
  ),
  row(
    "AS-18",
    "Every answer of ours to a client names us, once",
    `${OWN_CALLBACK}/connect.test.ts`,
    `${OWN_CALLBACK}/authorize-errors.test.ts`,
  ),
  row(
    "AS-19",
    "What is not spoken here is refused by its name",
    `${OWN_CALLBACK}/authorize-errors.test.ts`,
    `${SCENARIOS}/mcp-bad-authorize.test.ts`,
  ),
  row(
    "AS-20",
    "A token request is one form, of one client, said once",
    `${HOSTED}/token.test.ts`,
    `${SCENARIOS}/mcp-bad-token.test.ts`,
  ),
  row(
    "AS-21",
    "A revocation ends the caller's own and nothing else",
    `${HOSTED}/revoke.test.ts`,
    `${HOSTED}/session-revocation.test.ts`,
    `${SCENARIOS}/mcp-bad-token.test.ts`,
  ),
  row(
    "AS-22",
    "A user who says no, and a vendor that does, go back to the client",
    `${OWN_CALLBACK}/connect.test.ts`,
    `${SCENARIOS}/mcp-hosted.test.ts`,
  ),
];

const RESOURCE_SERVER: readonly Requirement[] = [
  row(
    "RS-1",
    "No token is 401 with a challenge, at /mcp alone",
    `${MCP}/endpoint.test.ts`,
    APP,
    `${SCENARIOS}/mcp-pre-registered.test.ts`,
  ),
  twin(
    "RS-2",
    "Only an access token of ours, for us, opens /mcp; in pre-registered mode one the vendor vouches for",
    `${HOSTED}/sessions.twin.test.ts`,
    `${HOSTED}/session-attacks.test.ts`,
    GATE,
    `${SCENARIOS}/mcp-hosted.test.ts`,
    `${SCENARIOS}/mcp-bad-calls.test.ts`,
  ),
  row("RS-3", "Too little scope is 403 with all that the call needs", `${MCP}/endpoint.test.ts`),
  row("RS-4", "A token in the query is not read", `${MCP}/endpoint.test.ts`, `${SCENARIOS}/mcp-pre-registered.test.ts`),
  row("RS-5", "A session id is no authentication: there are none", `${SCENARIOS}/mcp-bad-calls.test.ts`),
  row("RS-6", "No two requests share a server object", `${MCP}/endpoint.test.ts`),
  twin(
    "RS-7",
    "A foreign Host or Origin is 403",
    TWINS,
    `${MCP}/known-host.test.ts`,
    APP,
    `${SCENARIOS}/mcp-routes.test.ts`,
  ),
  twin("RS-8", "Nobody is answered as another", TWINS, GATE, `${SCENARIOS}/mcp-two-processes-dynamodb.test.ts`),
  elsewhere(
    "RS-9",
    "The MCP SDK has its known holes mended",
    "Built on @modelcontextprotocol/server 2.4, which came after them, pinned in the lockfile",
  ),
];

export const MCP_SERVER: readonly Requirement[] = [...AUTHORIZATION_SERVER, ...RESOURCE_SERVER];
