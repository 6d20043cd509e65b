/** The words of the error page, in English: the table that another language has to fill too. */

/** What the error page says. A reason comes before a status. */
export interface ErrorTexts {
  /** For a sign-in that ended in any other way. */
  readonly unfinished: string;
  readonly titles: Readonly<Record<number, string>>;
  /** What happened is not always a failure. */
  readonly titlesByReason: Readonly<Record<string, string>>;
  readonly startAgain: string;
  /**
   * Some vendors send the user here after an install that began in their marketplace: no application
   * sent the user.
   */
  readonly startAgainByReason: Readonly<Record<string, string>>;
  /** By reason, else by error code: where starting again would only lead to this page again. */
  readonly insteadOfStartingAgain: Readonly<Record<string, string>>;
  readonly ifItComesBack: string;
  readonly nothingLost: string;
  /** Before the code, the flow's id, and the id in the log. */
  readonly error: string;
  readonly flow: string;
  readonly reference: string;
}

const ADD_AGAIN =
  "Starting again does not help by itself. If you added this server to the application, remove it there and add it again, so that the application registers again. Otherwise tell the people who run the application.";

/** The default of `errorPageWith`. */
export const ENGLISH_ERRORS: ErrorTexts = {
  unfinished: "This sign-in did not finish",
  titles: {
    404: "There is no such page",
    405: "This page cannot be opened this way",
    500: "Something went wrong on our side",
    502: "The vendor answered in an unexpected way",
    503: "Not available right now",
  },
  titlesByReason: {
    state_replayed: "This sign-in was already finished",
    request_uri_used: "This link was already used",
    state_missing: "This sign-in did not start at an application",
  },
  startAgain: "Close this page and start again from the application that sent you here.",
  startAgainByReason: {
    state_missing: "Close this page, open the application you want to use the vendor with, and connect there.",
  },
  insteadOfStartingAgain: {
    client_unknown: ADD_AGAIN,
    invalid_redirect_uri: ADD_AGAIN,
    redirect_uri: ADD_AGAIN,
    client_host_not_listed:
      "Starting again does not help. Ask the people who run this server to accept applications of that host.",
    client_metadata_document:
      "Wait a minute before you start again from the application. If this page comes back, tell the people who run the application.",
    foreign_form: "Another website sent this form, and nothing was done. Close this page.",
    foreign_host: "Starting again does not help: tell the people who run this server.",
    foreign_origin: "Starting again does not help: tell the people who run this server.",
    slow_down: "Nothing was lost. Wait a minute, then reload this page.",
  },
  ifItComesBack: "If this page comes back, tell the people who run the application, with the words below.",
  nothingLost: "Nothing was lost. Wait a moment, then reload this page.",
  error: "Error",
  flow: "flow",
  reference: "reference",
};
