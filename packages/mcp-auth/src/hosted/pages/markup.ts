/**
 * The pages of links, in the look of the consent page: plain text, headings and buttons, no script.
 * Each says first who is signed in, or how to. Names of clients and accounts are untrusted.
 */
import type { Answer } from "@oauth-broker/oauth-core/http";
import { askFirst, fact, hidden, html, type Markup } from "@oauth-broker/service/page";
import type { Presentation } from "../../presentation/presentation.ts";
import type { ConnectionsError, DisconnectedKind } from "../../presentation/texts/english.ts";
import { PATHS } from "../../resource/paths.ts";
import { shownText } from "../../presentation/shown-text.ts";
import {
  applicationName,
  askingName,
  type ConsentPage,
  decisionForm,
  factsOfApplication,
} from "../server-callback/consent-page.ts";

/** Who is at the browser, and how they leave. */
export interface Visitor {
  readonly label: string;
  readonly signInName: string;
  /** The token of the form that signs out. */
  readonly signOutCsrf: string;
  /** The server's host, as in the address bar. */
  readonly serverHost: string;
  readonly presentation: Presentation;
}

export interface ConnectPage extends Pick<ConsentPage, "client" | "vendor" | "vendorName" | "scope" | "csrf"> {
  readonly visitor: Visitor;
  readonly ticket: string;
  /** The account linked now. */
  readonly linked: string | undefined;
}

//= bar#AS-7
export function connectPage(shown: ConnectPage): Answer {
  const { visitor, ticket, client, vendor, vendorName, scope, linked, csrf } = shown;
  const { presentation } = visitor;
  const { connect, consent, labels, connections } = presentation.texts;
  const asking = askingName(client, applicationName(client, presentation.texts));
  const content = html`${signedIn(visitor)}
${connect.asks(asking, vendorName, visitor.serverHost)}
<dl>
${factsOfApplication(client, presentation.texts)}
${fact(labels.vendor, vendorName)}
${scope.length === 0 ? undefined : fact(labels.permissions, presentation.scopes(vendor, scope))}
${linked === undefined ? undefined : fact(labels.connectedNow, shownText(linked) || connections.connectedAccount)}
</dl>
${decisionForm(`${PATHS.connect}/${ticket}`, [["csrf", csrf]], vendorName, consent)}
<h2>${connect.notYou}</h2>
${signOut(visitor, connect.anotherAccount, ticket)}`;
  return linkingPage(200, connect.title(vendorName), content, presentation);
}

/** Says nothing of the ticket: its user is another. */
export function foreignPage(visitor: Visitor, ticket: string): Answer {
  const { connect } = visitor.presentation.texts;
  const content = html`${signedIn(visitor)}
<p>${connect.foreign}</p>
${signOut(visitor, connect.anotherAccount, ticket)}
${toConnections(visitor)}`;
  return linkingPage(403, connect.foreignTitle, content, visitor.presentation);
}

export function gonePage(visitor: Visitor): Answer {
  const { connect } = visitor.presentation.texts;
  const content = html`${signedIn(visitor)}
<p>${connect.gone}</p>
${toConnections(visitor)}`;
  return linkingPage(410, connect.goneTitle, content, visitor.presentation);
}

function toConnections({ presentation }: Visitor): Markup {
  return html`<p><a href="${PATHS.connections}">${presentation.texts.connections.link}</a></p>`;
}

export interface ShownConnection {
  /** As `VENDORS` lists it. */
  readonly vendor: string;
  readonly name: string;
  readonly state: "usable" | "dead" | "missing" | "unreadable";
  readonly account: string | undefined;
  readonly scopes: readonly string[];
  /** ISO 8601, the day. */
  readonly since: string | undefined;
  /** The day after which it can no longer be renewed, if that is known. */
  readonly until: string | undefined;
  readonly csrf: string;
  /** Tokens that wait for a yes in this browser. */
  readonly pending: ShownPending | undefined;
}

export interface ShownPending extends Pick<ShownConnection, "account" | "scopes" | "csrf"> {
  readonly isOther: boolean;
}

export interface ConnectionsPage {
  readonly visitor: Visitor;
  readonly connections: readonly ShownConnection[];
  /** The name of the vendor that was linked just now. */
  readonly linked: string | undefined;
  readonly disconnected: Disconnected | undefined;
  readonly error: string;
}

/** What a disconnect did; `nothing`: what was stored could not be read, so nothing was revoked. */
export interface Disconnected {
  readonly name: string;
  readonly atVendor: DisconnectedKind;
  /** What the user can do by hand, as the vendor's entry says it. */
  readonly help: string | undefined;
}

/** Whether the user may have to end them at the vendor. */
const IS_BY_HAND: Readonly<Record<DisconnectedKind, boolean>> = {
  token: false,
  grant: false,
  already: false,
  unsupported: true,
  failed: true,
  nothing: true,
};

export const isAtVendor = (value: string): value is DisconnectedKind => Object.hasOwn(IS_BY_HAND, value);

export function connectionsPage({ visitor, connections, linked, disconnected, error }: ConnectionsPage): Answer {
  const { connections: texts } = visitor.presentation.texts;
  const problem = Object.hasOwn(texts.errors, error) ? texts.errors[error as ConnectionsError] : undefined;
  const content = html`${signedIn(visitor)}
${linked === undefined ? undefined : html`<p class="notice" role="status">${texts.linked(linked)}</p>`}
${disconnected === undefined ? undefined : disconnectedNotice(disconnected, visitor)}
${problem === undefined ? undefined : html`<p class="notice" role="alert">${problem}</p>`}
${connections.map((connection) => connectionOf(connection, visitor))}
<h2>${texts.yourAccount}</h2>
${signOut(visitor, texts.signOut)}`;
  return linkingPage(200, texts.title(visitor.serverHost), content, visitor.presentation);
}

export interface SignInPage extends Pick<Visitor, "presentation" | "signInName" | "serverHost"> {
  /** The user has signed out just now. */
  readonly isSignedOut: boolean;
  readonly csrf: string;
}

/** @param headers with the cookie that the form's token is of */
export function signInPage(shown: SignInPage, headers: Record<string, string>): Answer {
  const { presentation, isSignedOut, signInName, serverHost, csrf } = shown;
  const { connections: texts, consent } = presentation.texts;
  const content = html`${isSignedOut ? html`<p>${texts.signedOut}</p>` : undefined}
${texts.signInMeans(signInName, serverHost)}
${form({ csrf }, button("sign_in", consent.continueTo(signInName)))}`;
  const title = isSignedOut ? texts.signedOutTitle : texts.signInTitle(serverHost);
  return linkingPage(200, title, content, presentation, headers);
}

function disconnectedNotice({ name, atVendor, help }: Disconnected, { presentation }: Visitor): Markup {
  const { connections: texts } = presentation.texts;
  return html`<div class="notice" role="status"><p>${texts.disconnected(name)} ${texts.atVendor[atVendor](name)}</p>
${IS_BY_HAND[atVendor] ? texts.endByHand(help) : undefined}
<p>${texts.othersStay}</p></div>`;
}

function connectionOf(connection: ShownConnection, visitor: Visitor): Markup {
  const { vendor, name, state, account, scopes, since, until, csrf, pending } = connection;
  const { presentation } = visitor;
  const { labels, connections: texts } = presentation.texts;
  const isLinked = state !== "missing";
  const change = isLinked
    ? button("reconnect", texts.reconnect(name), "plain")
    : button("connect", texts.connect(name));
  return html`<h2>${name}</h2>
${pending === undefined ? undefined : pendingNotice(pending, connection, visitor)}
<dl>
${fact(labels.state, texts.states[state])}
${account === undefined ? undefined : fact(labels.account, shownText(account) || texts.connectedAccount)}
${scopes.length === 0 ? undefined : fact(labels.permissions, presentation.scopes(vendor, scopes))}
${since === undefined ? undefined : fact(labels.since, since)}
</dl>
${until === undefined || state !== "usable" ? undefined : html`<p>${texts.askedAgainAbout(until)}</p>`}
${form({ csrf, vendor }, change)}
${isLinked ? askToDisconnect(connection, visitor) : undefined}`;
}

function askToDisconnect({ vendor, name, csrf }: ShownConnection, { serverHost, presentation }: Visitor): Markup {
  const { connections: texts } = presentation.texts;
  const confirm = button("disconnect", texts.confirmDisconnect(name));
  return askFirst(texts.disconnect(name), texts.disconnectMeans(name, serverHost), form({ csrf, vendor }, confirm));
}

function pendingNotice(
  pending: ShownPending,
  { vendor, name, account, scopes }: ShownConnection,
  { presentation }: Visitor,
): Markup {
  const { connections: texts } = presentation.texts;
  const { isOther, csrf } = pending;
  const fresh = shownText(pending.account ?? "") || texts.anotherAccount;
  const before = shownText(account ?? "") || texts.connectedAccount;
  const lost = scopes.filter((scope) => !pending.scopes.includes(scope)).join(" ");
  const asked = isOther ? texts.replaces(before, fresh) : texts.loses(name, lost);
  const buttons = [button("replace", texts.replace), button("keep", texts.keep, "plain")];
  return html`<div class="notice" role="alert">${asked}
${form({ csrf, vendor }, buttons)}</div>`;
}

function form(fields: Readonly<Record<string, string>>, buttons: Markup | readonly Markup[]): Markup {
  return html`<form method="post" action="${PATHS.connections}">
${Object.entries(fields).map(([name, value]) => hidden(name, value))}
${buttons}
</form>`;
}

function button(action: string, label: string, kind = ""): Markup {
  return html`<button class="button ${kind}" type="submit" name="action" value="${action}">${label}</button>`;
}

function signedIn({ label, signInName, presentation }: Visitor): Markup {
  const { connections: texts } = presentation.texts;
  return texts.signedIn(html`<bdi>${shownText(label) || texts.connectedAccount}</bdi>`, signInName);
}

/** @param ticket the page for the browser after the next sign-in */
function signOut({ signOutCsrf: csrf }: Visitor, label: string, ticket?: string): Markup {
  return form(ticket === undefined ? { csrf } : { csrf, ticket }, button("sign_out", label, "plain"));
}

/** The URL of a ticket is in no Referer, and no other site frames the page. */
function linkingPage(
  status: number,
  title: string,
  content: Markup,
  presentation: Presentation,
  headers: Record<string, string> = {},
): Answer {
  const answer = presentation.formPage(title, content, headers);
  return { ...answer, status, headers: { ...answer.headers, "referrer-policy": "no-referrer" } };
}
