/**
 * The pages of links, in the look of the consent page: plain text, headings and buttons, no script.
 * Each says first who is signed in. Names of clients and accounts are untrusted.
 */
import { type Answer, formPageAnswer } from "@oauth-broker/oauth-core/http";
import { askFirst, fact, hidden, html, type Markup, page, STYLE_HASH } from "@oauth-broker/service/page";
import type { ServerClient } from "../clients/client.ts";
import { PATHS } from "../../resource/paths.ts";
import { askingName, KNOWN_BY, shownText } from "../server-callback/consent-page.ts";
import type { VendorRevocation } from "../links/link.ts";

/** Who is at the browser, and how they leave. */
export interface Visitor {
  readonly label: string;
  readonly signInName: string;
  /** The token of the form that signs out. */
  readonly signOutCsrf: string;
  /** The server's host, as in the address bar. */
  readonly serverHost: string;
}

export interface ConnectPage {
  readonly visitor: Visitor;
  readonly ticket: string;
  readonly client: ServerClient;
  readonly vendorName: string;
  readonly scopes: readonly string[];
  /** The account linked now. */
  readonly linked: string | undefined;
  readonly csrf: string;
}

//= bar#AS-7
export function connectPage({ visitor, ticket, client, vendorName, scopes, linked, csrf }: ConnectPage): Answer {
  const name = shownText(client.clientName);
  const content = html`${signedIn(visitor)}
<p>${askingName(client, name)} asks to use your ${vendorName} account through <strong>${visitor.serverHost}</strong>. Continue only if you use this application and want it.</p>
<dl>
${fact("Application", name)}
${fact("Known by", KNOWN_BY[client.knownBy](client))}
${fact("Vendor", vendorName)}
${scopes.length === 0 ? undefined : fact("Permissions", scopes.join(" "))}
${linked === undefined ? undefined : fact("Connected now", shownText(linked))}
</dl>
<form method="post" action="${PATHS.connect}/${ticket}">
${hidden("csrf", csrf)}
<button class="button" type="submit" name="decision" value="approve">Continue to ${vendorName}</button>
<button class="button plain" type="submit" name="decision" value="deny">Cancel</button>
</form>
<h2>Not you?</h2>
${signOut(visitor, "Use another account", ticket)}`;
  return linkingPage(200, `Connect ${vendorName}?`, content);
}

/** Says nothing of the ticket: its user is another. */
export function foreignPage(visitor: Visitor, ticket: string): Answer {
  const content = html`${signedIn(visitor)}
<p>This link is not for this account. If another account of yours asked for it, sign in with that one.</p>
${signOut(visitor, "Use another account", ticket)}
<p><a href="${PATHS.connections}">Your connections</a></p>`;
  return linkingPage(403, "This link is for another account", content);
}

export function gonePage(visitor: Visitor): Answer {
  const content = html`${signedIn(visitor)}
<p>It was used, it has expired, or the application that sent it has signed out. Go back to the application: it gives you a new link when it needs one.</p>
<p><a href="${PATHS.connections}">Your connections</a></p>`;
  return linkingPage(410, "This link does not work any more", content);
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
  readonly csrf: string;
  /** Tokens that wait for a yes in this browser. */
  readonly pending: ShownPending | undefined;
}

export interface ShownPending {
  readonly isOther: boolean;
  readonly account: string | undefined;
  readonly scopes: readonly string[];
  readonly csrf: string;
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
  readonly atVendor: VendorRevocation | "nothing";
  /** What the user can do by hand, as the vendor's entry says it. */
  readonly help: string | undefined;
}

const BY_HAND = "Open your account settings there, look under connected or authorized apps, and remove this one";

/** What became of the tokens; `isByHand`: the user may have to end them at the vendor. */
const AT_VENDOR: Readonly<
  Record<Disconnected["atVendor"], { readonly said: (name: string) => string; readonly isByHand: boolean }>
> = {
  token: { said: (name) => `Its tokens are deleted here, and ${name} has revoked them.`, isByHand: false },
  grant: {
    said: (name) => `Its tokens are deleted here, and ${name} has revoked them with all that you had allowed.`,
    isByHand: false,
  },
  already: { said: (name) => `Its tokens are deleted here; ${name} had ended them before.`, isByHand: false },
  unsupported: {
    said: (name) => `Its tokens are deleted here, but ${name} has no way to revoke them from here.`,
    isByHand: true,
  },
  failed: {
    said: (name) => `Its tokens are deleted here, but ${name} did not revoke them when it was asked.`,
    isByHand: true,
  },
  nothing: {
    said: (name) => `What was stored here is deleted. It could not be read, so ${name} was not asked to revoke it.`,
    isByHand: true,
  },
};

export const isAtVendor = (value: string): value is Disconnected["atVendor"] => Object.hasOwn(AT_VENDOR, value);

/** Any other value in the URL shows no message. */
const ERRORS: ReadonlyMap<string, string> = new Map([
  ["access_denied", "You cancelled. Nothing was connected."],
  [
    "organization_refused",
    "An administrator of your organization has to allow this at the vendor first. Nothing was connected.",
  ],
  ["other_account", "You chose another account than the one you are signed in with. Nothing was connected."],
  ["link_changed", "This connection has changed since the page was shown. Nothing was done: look below and try again."],
  ["ticket_ended", "The application does not wait for this any more. Nothing was connected."],
  ["vendor_error", "The vendor answered in an unexpected way. Nothing was connected: try again."],
  ["temporarily_unavailable", "This could not be finished now. Nothing was connected: try again in a moment."],
]);

export function connectionsPage({ visitor, connections, linked, disconnected, error }: ConnectionsPage): Answer {
  const problem = ERRORS.get(error);
  const content = html`${signedIn(visitor)}
${linked === undefined ? undefined : html`<p class="notice" role="status">${linked} is connected. You can close this page and go back to your application.</p>`}
${disconnected === undefined ? undefined : disconnectedNotice(disconnected)}
${problem === undefined ? undefined : html`<p class="notice" role="alert">${problem}</p>`}
${connections.map((connection) => connectionOf(connection, visitor))}
<h2>Your account here</h2>
${signOut(visitor, "Sign out", undefined)}`;
  return linkingPage(200, `Your connections at ${visitor.serverHost}`, content);
}

export function signedOutPage(): Answer {
  const content = html`<p>You are signed out in this browser. Your connections stay as they are.</p>
<p><a class="button" href="${PATHS.connections}">Sign in</a></p>`;
  return linkingPage(200, "You are signed out", content);
}

const STATES: Readonly<Record<ShownConnection["state"], string>> = {
  usable: "Connected",
  dead: "Ended by the vendor: connect it again",
  missing: "Not connected",
  unreadable: "Cannot be read: connect it again",
};

function disconnectedNotice({ name, atVendor, help = BY_HAND }: Disconnected): Markup {
  const { said, isByHand } = AT_VENDOR[atVendor];
  return html`<div class="notice" role="status"><p>${name} is disconnected. ${said(name)}</p>
${isByHand ? html`<p>To end what may be left there: ${help}.</p>` : undefined}
<p>Your applications stay signed in, and your other connections stay as they are.</p></div>`;
}

function connectionOf(connection: ShownConnection, { serverHost }: Visitor): Markup {
  const { vendor, name, state, account, scopes, since, csrf, pending } = connection;
  const isLinked = state !== "missing";
  return html`<h2>${name}</h2>
${pending === undefined ? undefined : pendingNotice(pending, connection)}
<dl>
${fact("State", STATES[state])}
${account === undefined ? undefined : fact("Account", shownText(account))}
${scopes.length === 0 ? undefined : fact("Permissions", scopes.join(" "))}
${since === undefined ? undefined : fact("Since", since)}
</dl>
<form method="post" action="${PATHS.connections}">
${hidden("csrf", csrf)}${hidden("vendor", vendor)}
${isLinked ? button("reconnect", `Reconnect ${name}`, "plain") : button("connect", `Connect ${name}`)}
</form>
${isLinked ? askToDisconnect(connection, serverHost) : undefined}`;
}

function askToDisconnect({ vendor, name, csrf }: ShownConnection, serverHost: string): Markup {
  return askFirst(
    `Disconnect ${name}`,
    `${serverHost} deletes its tokens for ${name}, and revokes them there where ${name} lets it. No application that uses ${serverHost} reaches your ${name} account after that, until you connect it again.`,
    html`<form method="post" action="${PATHS.connections}">
${hidden("csrf", csrf)}${hidden("vendor", vendor)}
${button("disconnect", `Yes, disconnect ${name}`)}
</form>`,
  );
}

function pendingNotice(pending: ShownPending, { vendor, name, account, scopes }: ShownConnection): Markup {
  const { isOther, csrf } = pending;
  const fresh = pending.account === undefined ? "another account" : shownText(pending.account);
  const before = account === undefined ? "the connected account" : shownText(account);
  const lost = scopes.filter((scope) => !pending.scopes.includes(scope)).join(" ");
  const asked = isOther
    ? html`<p>This replaces <strong>${before}</strong> with <strong>${fresh}</strong>. Do you want that?</p>`
    : html`<p>${name} has granted less than before. Replacing the connection loses: <strong>${lost}</strong>. Do you want that?</p>`;
  return html`<div class="notice" role="alert">${asked}
<form method="post" action="${PATHS.connections}">
${hidden("csrf", csrf)}${hidden("vendor", vendor)}
${button("replace", "Yes, replace it")}
${button("keep", "No, keep what I have", "plain")}
</form></div>`;
}

function button(action: string, label: string, kind = ""): Markup {
  return html`<button class="button ${kind}" type="submit" name="action" value="${action}">${label}</button>`;
}

function signedIn({ label, signInName }: Visitor): Markup {
  return html`<p>You are signed in as <strong><bdi>${shownText(label)}</bdi></strong> (${signInName}).</p>`;
}

/** @param ticket the page for the browser after the next sign-in */
function signOut({ signOutCsrf }: Visitor, label: string, ticket: string | undefined): Markup {
  return html`<form method="post" action="${PATHS.connections}">
${hidden("csrf", signOutCsrf)}${ticket === undefined ? undefined : hidden("ticket", ticket)}
${button("sign_out", label, "plain")}
</form>`;
}

/** The URL of a ticket is in no Referer, and no other site frames the page. */
function linkingPage(status: number, title: string, content: Markup): Answer {
  const answer = formPageAnswer(page(title, content), STYLE_HASH, {});
  return { ...answer, status, headers: { ...answer.headers, "referrer-policy": "no-referrer" } };
}
