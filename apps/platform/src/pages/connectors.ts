/** The list of connectors, and the page of one: its state for this user, Connect and Disconnect. */
import { askFirst, html, type Markup } from "@oauth-broker/service/page";
import type { AskedPlaceholder, Connector, Registration } from "../connectors/connector.ts";
import type { ConnectionStatus } from "../oauth/connections.ts";
import type { Disconnected } from "../oauth/disconnect.ts";
import type { SignedIn } from "../users/session.ts";
import { choiceField, inputField } from "./fields.ts";
import { alert, form, platformPage, statusNotice, type Tab } from "./layout.ts";
import { failureNotice, STATE_WORDS, statusLine, time } from "./status.ts";

export interface ListedConnector {
  readonly connector: Connector;
  readonly status: ConnectionStatus;
}

export const REGISTRATION_WORDS: Readonly<Record<Registration, string>> = {
  pre_registered_client: "Pre-registered Client",
  hosted_server: "Hosted by the server",
  broker: "Through the broker",
  none: "None",
};

export function connectorsPage(listed: readonly ListedConnector[], session: SignedIn): string {
  const rows = listed.map(
    ({ connector, status }) =>
      html`<tr><td><a href="/connectors/${connector.id}">${connector.name}</a>${aboutOf(connector)}</td><td class="word">${STATE_WORDS[connector.state]}</td><td>${needsNone(connector) ? "Needs no connection" : statusLine(status)}</td></tr>`,
  );
  const table = html`<table><thead><tr><th scope="col">Connector</th><th class="word" scope="col">State</th><th scope="col">Your connection</th></tr></thead>
<tbody>${rows}</tbody></table>`;
  const none = html`<p>There are no connectors yet. <code>platform deploy init</code> creates one for a server.</p>`;
  return platformPage({ title: "Connectors", session, content: listed.length === 0 ? none : table });
}

const aboutOf = ({ withoutServer }: Connector): Markup | undefined =>
  withoutServer && html`<p class="quiet">${withoutServer.about}</p>`;

/** The mode of a draft without settings is not known yet. */
const needsNone = ({ state, settings }: Connector): boolean => state === "active" && settings.authentication === "none";

export function tabsOf(
  { id, withoutServer }: Connector,
  current: "connection" | "settings" | "try",
  { user }: SignedIn,
): readonly Tab[] {
  const tab = (href: string, label: string, name?: string): Tab => ({ href, label, isCurrent: name === current });
  return [
    tab("/connectors", "All connectors"),
    tab(`/connectors/${id}`, "Connection", "connection"),
    ...(withoutServer === undefined ? [tab(`/connectors/${id}/try`, "Try", "try")] : []),
    ...(user.isAdministrator ? [tab(`/connectors/${id}/settings`, "Settings", "settings")] : []),
  ];
}

export interface ConnectorPage extends ListedConnector {
  /** Facts about the connector itself. */
  readonly warning?: string | undefined;
  /** For a connector without a server: the user's tokens, and what their last flow checked. */
  readonly tokens?: Markup | undefined;
}

export function connectorPage(
  { connector, status, warning, tokens }: ConnectorPage,
  session: SignedIn,
  notice?: Markup,
): string {
  const { name, state, serverUrl, withoutServer, settings } = connector;
  const { connectedAt, scope, failure, revokedAt } = status;
  const facts: [term: string, fact: Markup | string][] = [
    ["State", STATE_WORDS[state]],
    ["Registration", REGISTRATION_WORDS[settings.registration]],
  ];
  if (withoutServer === undefined)
    facts.push(["Server", serverUrl === undefined ? "Not deployed yet" : html`<code>${serverUrl}</code>`]);
  if (!needsNone(connector)) facts.push(["Your connection", statusLine(status)]);
  if (connectedAt !== undefined) facts.push(["Connected since", time(connectedAt)]);
  if (revokedAt !== undefined) facts.push(["Revoked", time(revokedAt)]);
  if (scope !== undefined) facts.push(["Scope", scope]);
  return platformPage({
    title: name,
    session,
    tabs: tabsOf(connector, "connection", session),
    content: html`${aboutOf(connector)}
${notice}
${warning === undefined ? undefined : alert(`Warning: ${warning}`)}
${failure === undefined ? undefined : failureNotice(failure)}
<dl>${facts.map(([term, fact]) => html`<div><dt>${term}</dt><dd>${fact}</dd></div>`)}</dl>
${actions(connector, status, session)}
${tokens}`,
  });
}

function actions(connector: Connector, status: ConnectionStatus, { cookie }: SignedIn): Markup {
  const { id, name, state, withoutServer: { asked } = { asked: [] } } = connector;
  if (needsNone(connector)) return html`<p>This server needs no sign-in. Call its tools directly.</p>`;
  const button = (look: string, label: string): Markup => html`<button class="${look}" type="submit">${label}</button>`;
  const disconnect =
    status.state === "none"
      ? undefined
      : askFirst(
          "Disconnect",
          `This deletes your tokens for ${name} here, and revokes them at their issuer if that is possible. Agents can no longer use ${name} for you, until you connect again.`,
          form(`/connectors/${id}/disconnect`, cookie, button("button", "Yes, disconnect")),
        );
  if (state === "draft") {
    return html`<p>This connector is a draft. It can be connected once a deploy has passed the connection test.</p>${disconnect}`;
  }
  const label = status.state === "none" ? "Connect" : "Connect again";
  const look = status.state === "connected" ? "button plain" : "button";
  const connect = form(`/connectors/${id}/connect`, cookie, [...asked.map(askedField), button(look, label)]);
  return html`${asked.length === 0 ? html`<div class="row">${connect}</div>` : connect}
${disconnect}`;
}

function askedField({ label, value, choices, ...placeholder }: AskedPlaceholder): Markup {
  const name = inputNameOf(placeholder);
  if (choices === undefined) return inputField({ name, label, value });
  const words = Object.fromEntries(choices.map((choice) => [choice.value, choice.label]));
  return choiceField(name, label, words, value);
}

/** A placeholder must not be taken for another field of the form. */
export const inputNameOf = ({ name }: Pick<AskedPlaceholder, "name">): string => `placeholder.${name}`;

/** What became of the tokens: here they are deleted in any case. */
export function disconnectedNotice(outcome: Disconnected): Markup {
  switch (outcome.tokens) {
    case "none":
      return statusNotice("There was no connection any more. Nothing was done.");
    case "revoked":
      return statusNotice("Disconnected. Your tokens are deleted here, and revoked at their issuer.");
    case "left":
      return alert(`Disconnected here: your tokens are deleted. They could not be revoked. ${outcome.help}`);
  }
}
