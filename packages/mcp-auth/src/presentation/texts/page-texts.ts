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

type Texts<Name extends string> = Readonly<Record<Name, string>>;
/** Sentences about one name: a vendor's, if nothing else is said. */
type TextsAbout<Name extends string> = Readonly<Record<Name, (name: string) => string>>;

/** Names, and text from strangers, arrive plain and are escaped by `html`. */
export interface PageTexts extends Pick<PageFrame, "language" | "direction"> {
  readonly errors: ErrorTexts;
  /** For a browser that opens a page before its user does. */
  readonly prefetched: Texts<"title" | "text">;
  readonly footer: Texts<"website" | "privacy" | "terms">;

  /** `forClients`, of a server's name, is the title of the 401 of `/mcp`. */
  readonly home: Texts<"signInElsewhere" | "platformOnly"> &
    TextsAbout<"forClients"> & {
      /** @param address of `/mcp`; undefined: at this address */
      whatItIs(address: Markup | undefined): Markup;
    };

  readonly labels: TextsAbout<"permissionsAt"> &
    Texts<
      | "application"
      | "knownBy"
      | "leadsBackTo"
      | "vendor"
      | "permissions"
      | "connectedNow"
      | "state"
      | "account"
      | "since"
    >;
  readonly unnamedApplication: string;
  /** Who vouches for a client. A metadata document is named by its host. */
  readonly knownBy: Texts<"configuration" | "registration"> & TextsAbout<"metadataDocument">;

  readonly consent: Texts<"identityOnly" | "grantedThere" | "cancel" | "askedAgain"> &
    TextsAbout<"linkedLater" | "continueTo"> & {
      /** @param vendors at least one */
      title(asking: string, vendors: readonly string[]): string;
      asks(asking: string, vendors: readonly string[], serverHost: string): Markup;
      hosts(documentHost: string, redirectHost: string): Markup;
      /** When to continue. A page has one of the three: this, or one of the two warnings. */
      readonly onlyIf: string;
      /** @param choseItsName the name on the page is the application's own word */
      onThisComputer(choseItsName: boolean): string;
      readonly choseItsName: string;
    };

  readonly connect: Texts<"notYou" | "anotherAccount" | "foreignTitle" | "foreign" | "goneTitle" | "gone"> &
    TextsAbout<"title"> & { asks(asking: string, vendor: string, serverHost: string): Markup };

  /** `refused` is a request to the pages that is not answered; the two titles name the server's host. */
  readonly connections: Texts<"link" | "refused" | "yourAccount" | "signOut" | "signedOutTitle" | "signedOut"> &
    Texts<"othersStay" | "anotherAccount" | "connectedAccount" | "replace" | "keep"> &
    TextsAbout<"title" | "signInTitle" | "linked" | "connect" | "reconnect"> &
    TextsAbout<"disconnect" | "confirmDisconnect" | "disconnected"> & {
      signedIn(account: Markup, vendor: string): Markup;
      /** @param day on which its refresh token ends, ISO 8601 */
      askedAgainAbout(day: string): string;
      /** Before the browser leaves for the vendor that signs users in. */
      signInMeans(vendor: string, serverHost: string): Markup;
      readonly states: Texts<"usable" | "dead" | "missing" | "unreadable">;
      disconnectMeans(vendor: string, serverHost: string): string;
      readonly atVendor: TextsAbout<DisconnectedKind>;
      /** @param help the vendor's entry says it, in English; undefined: what helps at most vendors */
      endByHand(help: string | undefined): Markup;
      replaces(before: string, fresh: string): Markup;
      loses(vendor: string, scopes: string): Markup;
      readonly errors: Texts<ConnectionsError>;
    };
}
