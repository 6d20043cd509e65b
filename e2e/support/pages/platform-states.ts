/** The reference platform's five pages, and the sandbox's, in every state that looks different. */
import { html } from "@oauth-broker/service/page";
import type { Connector } from "../../../apps/platform/src/connectors/connector.ts";
import { NEW_SETTINGS } from "../../../apps/platform/src/connectors/settings.ts";
import type { ConnectionStatus } from "../../../apps/platform/src/oauth/connections.ts";
import {
  type ConnectorPage,
  connectorPage,
  connectorsPage,
  disconnectedNotice,
} from "../../../apps/platform/src/pages/connectors.ts";
import { statusNotice } from "../../../apps/platform/src/pages/layout.ts";
import { legsPanel } from "../../../apps/platform/src/pages/legs.ts";
import { settingsPage } from "../../../apps/platform/src/pages/settings.ts";
import { signInPage } from "../../../apps/platform/src/pages/sign-in.ts";
import { tokensPanel } from "../../../apps/platform/src/pages/tokens.ts";
import { type TryPage, tryPage } from "../../../apps/platform/src/pages/try.ts";
import { signedIn } from "../../../apps/platform/src/testing/test-connect.ts";
import { USERS } from "../../../apps/platform/src/users/users.ts";

const LONG = "a-very-long-name-without-a-space-that-has-to-break-somewhere-in-the-line";
const AT = 1_700_000_000;
const PLATFORM_URL = "https://platform.example";
const session = signedIn("admin");

const connector: Connector = {
  id: "notes",
  name: `Notes ${LONG}`,
  state: "active",
  serverUrl: `https://server.example/${LONG}/mcp`,
  callback: "own",
  settings: { ...NEW_SETTINGS, authentication: "oauth_2_1", registration: "hosted_server" },
  createdAt: AT,
  updatedAt: AT,
};
const { serverUrl: _, ...undeployed } = connector;
const withoutServer: Connector = {
  ...undeployed,
  settings: { ...connector.settings, registration: "broker", vendorOrIssuer: "vendor", hasClientSecret: true },
  withoutServer: {
    about: "A practice copy on this machine",
    asked: [
      { name: "tenant", label: "Tenant", value: "a", choices: [{ value: "a", label: `Tenant ${LONG}` }] },
      { name: "environment", label: "Environment", value: "first" },
    ],
    request: {},
  },
};
const about = { error: "access_denied", description: "The user cancelled", flowId: "flow", vendorError: "V1" };
const failure = { ...about, at: AT };
const connected: ConnectionStatus = { state: "connected", connectedAt: AT, scope: `read ${LONG}` };

/** @returns by the function that makes the page */
export function statesOfPlatform(): readonly [by: string, name: string, html: string][] {
  const one = (name: string, page: Partial<ConnectorPage>, notice?: ReturnType<typeof html>) =>
    shown("connectorPage", name, connectorPage({ connector, status: { state: "none" }, ...page }, session, notice));
  const expired = { connector, status: { state: "reauthorize", reason: "expired" } } as const;
  const problems = ["clientId", "scopes", "registration"].map((path) => ({ path, problem: "is wrong" }));
  return [
    ["signInPage", "users", signInPage(USERS, session.cookie)],
    ["connectorsPage", "none", connectorsPage([], session)],
    [
      "connectorsPage",
      "of both kinds",
      connectorsPage([expired, { connector: withoutServer, status: connected }], session),
    ],
    one("not connected", {}),
    one("a draft", { connector: { ...undeployed, state: "draft" } }),
    one("connected, with a warning", { status: connected, warning: "Careful" }),
    one("after a failure", { status: { state: "reauthorize", failure } }),
    ...([{ tokens: "none" }, { tokens: "revoked" }, { tokens: "left", help: "Do it by hand" }] as const).map(
      (outcome) => one(`disconnected: ${outcome.tokens}`, {}, disconnectedNotice(outcome)),
    ),
    one("without a server", { connector: withoutServer }),
    one(
      "without a server, with tokens and legs",
      {
        connector: withoutServer,
        status: { ...connected, revokedAt: AT, failure },
        tokens: html`${tokens()}${legs()}`,
      },
      statusNotice("Refreshed"),
    ),
    ["settingsPage", "saved", settingsPage({ ...settingsOf(connector), isSaved: true }, session)],
    ["settingsPage", "with problems", settingsPage({ ...settingsOf(withoutServer), problems }, session)],
    ...triedPages().map(([name, page]) => shown("tryPage", name, page)),
  ];
}

const settingsOf = (of: Connector) => ({ connector: of, settings: of.settings, platformUrl: PLATFORM_URL });
const shown = (...page: [by: string, name: string, html: string]) => page;

function tokens() {
  const held = {
    accessToken: "access-token",
    tokenType: "Bearer",
    expiresAt: AT + 60,
    refreshToken: "refresh-token",
    vendor: "vendor",
    connection: "connection",
    vendorData: { team: { id: LONG } },
  };
  return tokensPanel(withoutServer, { tokens: held, now: AT }, session);
}

function legs() {
  const flow = { id: "flow-id", startedAt: AT, endedAt: AT, isConnected: true };
  const failed = { leg: "failed", at: AT, checks: [], reason: "callback: state_mismatch" };
  return legsPanel(withoutServer, { flow, legs: [failed], hasIdToken: true });
}

function triedPages(): [name: string, page: string][] {
  const tools = [{ name: "post", description: "Posts a note" }];
  const page = (more: Partial<TryPage>): string => tryPage({ connector, tools, ...more }, session);
  const url = { href: "https://vendor.example/", host: "vendor.example", isMarked: true };
  const questions = [
    { about: "Vendor", message: "Open it", url },
    { about: "", message: "Open it", url: { refused: "is no https URL" } },
  ] as never;
  return [
    ["a problem", page({ tools: [], problem: "You are not connected" })],
    ["an answer", page({ called: { tool: "post", result: { isError: false, text: LONG } } })],
    ["questions", page({ asked: { tool: "post", callId: "call", questions } })],
  ];
}
