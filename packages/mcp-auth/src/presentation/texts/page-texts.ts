/**
 * What a language has to say: every text of this server's pages. A language is one file that fills
 * this table. Sentences about names are functions, since word order differs.
 */
import type { ErrorTexts } from "@oauth-broker/service/http";
import type { Markup, PageFrame } from "@oauth-broker/service/page";

/** What became of the tokens at a vendor that a user has disconnected. */
export type DisconnectedKind = "token" | "grant" | "already" | "unsupported" | "failed" | "nothing";

/** The messages of `/connections?error=`: any other value in the URL shows no message. */
export type ConnectionsError =
  | "access_denied"
  | "organization_refused"
  | "other_account"
  | "link_changed"
  | "ticket_ended"
  | "vendor_error"
  | "temporarily_unavailable";

/** Names, and text from strangers, arrive plain and are escaped by `html`. */
export interface PageTexts extends Pick<PageFrame, "language" | "direction"> {
  readonly errors: ErrorTexts;
  /** For a browser that opens a page before its user does. */
  readonly prefetched: { readonly title: string; readonly text: string };
  readonly footer: { readonly website: string; readonly privacy: string; readonly terms: string };

  readonly home: {
    /** @param address of `/mcp`; undefined: at this address */
    whatItIs(address: Markup | undefined): Markup;
    /** The title of the 401 of `/mcp`. */
    forClients(name: string): string;
    readonly signInElsewhere: string;
    readonly platformOnly: string;
  };

  readonly labels: {
    readonly application: string;
    readonly knownBy: string;
    readonly leadsBackTo: string;
    readonly vendor: string;
    readonly permissions: string;
    permissionsAt(vendor: string): string;
    readonly connectedNow: string;
    readonly state: string;
    readonly account: string;
    readonly since: string;
  };
  readonly unnamedApplication: string;
  /** Who vouches for a client. */
  readonly knownBy: {
    readonly configuration: string;
    metadataDocument(host: string): string;
    readonly registration: string;
  };

  readonly consent: {
    /** @param vendors at least one */
    title(asking: string, vendors: readonly string[]): string;
    asks(asking: string, vendors: readonly string[], serverHost: string): Markup;
    hosts(documentHost: string, redirectHost: string): Markup;
    /** When to continue. A page has one of the three: this, or one of the two warnings. */
    readonly onlyIf: string;
    /** @param choseItsName the name on the page is the application's own word */
    onThisComputer(choseItsName: boolean): string;
    readonly choseItsName: string;
    readonly identityOnly: string;
    readonly grantedThere: string;
    linkedLater(signInVendor: string): string;
    continueTo(vendor: string): string;
    readonly cancel: string;
    readonly askedAgain: string;
  };

  readonly connect: {
    title(vendor: string): string;
    asks(asking: string, vendor: string, serverHost: string): Markup;
    readonly notYou: string;
    readonly anotherAccount: string;
    readonly foreignTitle: string;
    readonly foreign: string;
    readonly goneTitle: string;
    readonly gone: string;
  };

  readonly connections: {
    readonly link: string;
    /** A request to the pages that is not answered. */
    readonly refused: string;
    title(serverHost: string): string;
    signedIn(account: Markup, vendor: string): Markup;
    /** @param day on which its refresh token ends, ISO 8601 */
    askedAgainAbout(day: string): string;
    linked(vendor: string): string;
    readonly yourAccount: string;
    readonly signOut: string;
    readonly signedOutTitle: string;
    readonly signedOut: string;
    signInTitle(serverHost: string): string;
    /** Before the browser leaves for the vendor that signs users in. */
    signInMeans(vendor: string, serverHost: string): Markup;
    readonly states: Readonly<Record<"usable" | "dead" | "missing" | "unreadable", string>>;
    connect(vendor: string): string;
    reconnect(vendor: string): string;
    disconnect(vendor: string): string;
    disconnectMeans(vendor: string, serverHost: string): string;
    confirmDisconnect(vendor: string): string;
    disconnected(vendor: string): string;
    readonly atVendor: Readonly<Record<DisconnectedKind, (vendor: string) => string>>;
    /** @param help the vendor's entry says it, in English; undefined: what helps at most vendors */
    endByHand(help: string | undefined): Markup;
    readonly othersStay: string;
    readonly anotherAccount: string;
    readonly connectedAccount: string;
    replaces(before: string, fresh: string): Markup;
    loses(vendor: string, scopes: string): Markup;
    readonly replace: string;
    readonly keep: string;
    readonly errors: Readonly<Record<ConnectionsError, string>>;
  };
}
