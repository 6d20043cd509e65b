/**
 * The pages in English, and so what every language has to say: another one is a file with these
 * members. Sentences about names are functions, since word order differs. Names, and text from
 * strangers, arrive plain and are escaped by `html`.
 */
import { ENGLISH_ERRORS } from "@oauth-broker/service/http";
import { html, type Markup, type PageFrame } from "@oauth-broker/service/page";

const NOTHING_CONNECTED = "Nothing was connected";
const BY_HAND = "Open your account settings there, look under connected or authorized apps, and remove this one";

const LEFT_TO_RIGHT: PageFrame["direction"] = "ltr";

/** Every text of the pages. */
export const ENGLISH = {
  language: "en",
  direction: LEFT_TO_RIGHT,
  errors: ENGLISH_ERRORS,
  /** For a browser that opens a page before its user does. */
  prefetched: { title: "Not opened yet", text: "Open this page yourself." },
  footer: { website: "Website", privacy: "Privacy", terms: "Terms" },

  home: {
    /** @param address of `/mcp`; undefined: at this address */
    whatItIs: (address: Markup | undefined) =>
      html`<p>This is an MCP server: a program that assistants and agents use, not a website. To use it, add ${address ?? html`<code>/mcp</code> at this address`} to your application as a server.</p>`,
    /** The title of the 401 of `/mcp`. */
    forClients: (name: string) => `${name} is for MCP clients`,
    signInElsewhere: "The application sends you here to sign in. You cannot sign in on this page.",
    platformOnly: "A platform uses this server for you. You cannot sign in here.",
  },

  labels: {
    application: "Application",
    knownBy: "Known by",
    leadsBackTo: "Leads back to",
    vendor: "Vendor",
    permissions: "Permissions",
    permissionsAt: (vendor: string) => `Permissions at ${vendor}`,
    connectedNow: "Connected now",
    state: "State",
    account: "Account",
    since: "Since",
  },
  unnamedApplication: "An application without a name",
  /** Who vouches for a client. A metadata document is named by its host. */
  knownBy: {
    configuration: "the operator of this server",
    metadataDocument: (host: string) => `its own description at ${host}`,
    registration: "its own registration, which is unverified",
  },

  consent: {
    /** @param vendors at least one */
    title: (asking: string, vendors: readonly string[]) => `Let ${asking} use your ${accounts(vendors)}?`,
    asks: (asking: string, vendors: readonly string[], serverHost: string) =>
      html`${asking} asks to use your ${accounts(vendors)} through <strong>${serverHost}</strong>.`,
    hosts: (documentHost: string, redirectHost: string) =>
      html`<p>An application at <strong>${documentHost}</strong> asks; the answer goes to <strong>${redirectHost}</strong>.</p>`,
    /** When to continue. A page has one of the three: this, or one of the two warnings. */
    onlyIf: "Continue only if you came from this application and want it.",
    /** @param choseItsName the name on the page is the application's own word */
    onThisComputer: (choseItsName: boolean) =>
      `The answer goes to a program on this computer.${choseItsName ? " It chose this name itself." : ""} Continue only if you started one just now.`,
    choseItsName:
      "The application chose this name itself. Continue only if you came from the address that it leads back to, and want it.",
    identityOnly: "who you are",
    grantedThere: "as you grant them there",
    linkedLater: (vendor: string) =>
      `You sign in at ${vendor} now. Your accounts at the others are linked later: you are asked for each when the application first needs it.`,
    continueTo: (vendor: string) => `Continue to ${vendor}`,
    cancel: "Cancel",
    askedAgain: "You will be asked again the next time an application wants to connect.",
  },

  connect: {
    title: (vendor: string) => `Connect ${vendor}?`,
    asks: (asking: string, vendor: string, serverHost: string) =>
      html`<p>${asking} asks to use your ${vendor} account through <strong>${serverHost}</strong>. Continue only if you use this application and want it.</p>`,
    notYou: "Not you?",
    anotherAccount: "Use another account",
    foreignTitle: "This link is for another account",
    foreign: "This link is not for this account. If another account of yours asked for it, sign in with that one.",
    goneTitle: "This link does not work any more",
    gone: "It was used, it has expired, or the application that sent it has signed out. Go back to the application: it gives you a new link when it needs one.",
  },

  connections: {
    link: "Your connections",
    /** A request to the pages that is not answered. */
    refused: "This could not be done",
    title: (serverHost: string) => `Your connections at ${serverHost}`,
    signedIn: (account: Markup, vendor: string) =>
      html`<p>You are signed in as <strong>${account}</strong> (${vendor}).</p>`,
    /** @param day on which its refresh token ends, ISO 8601 */
    askedAgainAbout: (day: string) => `You will be asked to connect again about ${day}.`,
    linked: (vendor: string) => `${vendor} is connected. You can close this page and go back to your application.`,
    yourAccount: "Your account here",
    signOut: "Sign out",
    signedOutTitle: "You are signed out",
    signedOut: "You are signed out in this browser. Your connections stay as they are.",
    signInTitle: (serverHost: string) => `Sign in to see your connections at ${serverHost}`,
    /** Before the browser leaves for the vendor that signs users in. */
    signInMeans: (vendor: string, serverHost: string) =>
      html`<p>Your connections are shown to you alone, so <strong>${serverHost}</strong> has to know who you are. You sign in at <strong>${vendor}</strong>, which names your account to this server and leads you back here. That connects nothing: no token of this sign-in is kept.</p>`,
    states: {
      usable: "Connected",
      dead: "Ended by the vendor: connect it again",
      missing: "Not connected",
      unreadable: "Cannot be read: connect it again",
    },
    connect: (vendor: string) => `Connect ${vendor}`,
    reconnect: (vendor: string) => `Reconnect ${vendor}`,
    disconnect: (vendor: string) => `Disconnect ${vendor}`,
    disconnectMeans: (vendor: string, serverHost: string) =>
      `${serverHost} deletes its tokens for ${vendor}, and revokes them there where ${vendor} lets it. No application that uses ${serverHost} reaches your ${vendor} account after that, until you connect it again.`,
    confirmDisconnect: (vendor: string) => `Yes, disconnect ${vendor}`,
    disconnected: (vendor: string) => `${vendor} is disconnected.`,
    atVendor: {
      token: (vendor: string) => `Its tokens are deleted here, and ${vendor} has revoked them.`,
      grant: (vendor: string) =>
        `Its tokens are deleted here, and ${vendor} has revoked them with all that you had allowed.`,
      already: (vendor: string) => `Its tokens are deleted here; ${vendor} had ended them before.`,
      unsupported: (vendor: string) =>
        `Its tokens are deleted here, but ${vendor} has no way to revoke them from here.`,
      failed: (vendor: string) => `Its tokens are deleted here, but ${vendor} did not revoke them when it was asked.`,
      nothing: (vendor: string) =>
        `What was stored here is deleted. It could not be read, so ${vendor} was not asked to revoke it.`,
    },
    /** @param help the vendor's entry says it, in English; undefined: what helps at most vendors */
    endByHand: (help: string | undefined = BY_HAND) => html`<p>To end what may be left there: ${help}.</p>`,
    othersStay: "Your applications stay signed in, and your other connections stay as they are.",
    anotherAccount: "another account",
    connectedAccount: "the connected account",
    replaces: (before: string, fresh: string) =>
      html`<p>This replaces <strong>${before}</strong> with <strong>${fresh}</strong>. Do you want that?</p>`,
    loses: (vendor: string, scopes: string) =>
      html`<p>${vendor} has granted less than before. Replacing the connection loses: <strong>${scopes}</strong>. Do you want that?</p>`,
    replace: "Yes, replace it",
    keep: "No, keep what I have",
    errors: {
      access_denied: `You cancelled. ${NOTHING_CONNECTED}.`,
      organization_refused: `An administrator of your organization has to allow this at the vendor first. ${NOTHING_CONNECTED}.`,
      other_account: `You chose another account than the one you are signed in with. ${NOTHING_CONNECTED}.`,
      link_changed: "This connection has changed since the page was shown. Nothing was done: look below and try again.",
      ticket_ended: `The application does not wait for this any more. ${NOTHING_CONNECTED}.`,
      vendor_error: `The vendor answered in an unexpected way. ${NOTHING_CONNECTED}: try again.`,
      temporarily_unavailable: `This could not be finished now. ${NOTHING_CONNECTED}: try again in a moment.`,
    },
  },
};

/** The texts of one language. */
export type PageTexts = typeof ENGLISH;
/** What became of the tokens at a vendor that a user has disconnected. */
export type DisconnectedKind = keyof PageTexts["connections"]["atVendor"];
/** The messages of `/connections?error=`: any other value in the URL shows none. */
export type ConnectionsError = keyof PageTexts["connections"]["errors"];

function accounts(vendors: readonly string[]): string {
  const last = vendors.at(-1) ?? "";
  return vendors.length === 1 ? `${last} account` : `${vendors.slice(0, -1).join(", ")} and ${last} accounts`;
}
