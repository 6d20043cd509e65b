/**
 * The page a browser sees when no redirect is allowed: what happened, what to do, and the way back.
 */
import { type Answer, errorHeaders, pageAnswer } from "@oauth-broker/oauth-core/http";
import type { OAuthError } from "@oauth-broker/oauth-core";
import { type BackLink, html, type Markup, page, STYLE_HASH } from "../page.ts";
import type { Route, Trace } from "./http-layer.ts";

/** @param trace the client of the flow, if it is known, and why the page is shown */
export type WayBack = (trace: Pick<Trace, "clientId" | "reason">) => Promise<BackLink | undefined>;

const TITLES: Record<number, string> = {
  404: "There is no such page",
  405: "This page cannot be opened this way",
  500: "Something went wrong on our side",
  502: "The vendor answered in an unexpected way",
  503: "Not available right now",
};

/** Titles by reason: what happened is not always a failure. */
const TITLES_BY_REASON: Record<string, string> = {
  state_replayed: "This sign-in was already finished",
  request_uri_used: "This link was already used",
  state_missing: "This sign-in did not start at an application",
};

const START_AGAIN = "Close this page and start again from the application that sent you here.";

/**
 * Some vendors send the user here after an install that began in their marketplace: no application
 * sent the user.
 */
const START_AGAIN_BY_REASON: Record<string, string> = {
  state_missing: "Close this page, open the application you want to use the vendor with, and connect there.",
};

const ADD_AGAIN =
  "Starting again does not help by itself. If you added this server to the application, remove it there and add it again, so that the application registers again. Otherwise tell the people who run the application.";

/**
 * By reason, else by error code: errors for which starting again would only lead to this page
 * again.
 */
const INSTEAD_OF_STARTING_AGAIN: Readonly<Record<string, string>> = {
  client_unknown: ADD_AGAIN,
  invalid_redirect_uri: ADD_AGAIN,
  redirect_uri: ADD_AGAIN,
  client_host_not_listed:
    "Starting again does not help. Ask the people who run this server to accept applications of that host.",
  client_metadata_document:
    "Wait a minute before you start again from the application. If this page comes back, tell the people who run the application.",
  foreign_host: "Starting again does not help: tell the people who run this server.",
  slow_down: "Nothing was lost. Wait a minute, then reload this page.",
};

/** Errors for which starting again may help, once. */
const MAY_COME_BACK: ReadonlySet<string> = new Set([
  "issuer_mismatch",
  "missing_issuer",
  "malformed_response",
  "path_mismatch",
  "context_mismatch",
]);
const IF_IT_COMES_BACK = html`<p>If this page comes back, tell the people who run the application, with the words below.</p>`;

const NOTHING_LOST = html`<p>Nothing was lost. Wait a moment, then reload this page.</p>`;

/**
 * @param wayBack finds the link back to the application; absent: the page says where to start again
 */
export function errorPageWith(
  wayBack: WayBack = async () => undefined,
): (error: OAuthError, trace: Trace, route?: Pick<Route, "refused">) => Promise<Answer> {
  return async (error, trace, { refused } = {}) => {
    const link = refused?.back ?? (await wayBack(trace).catch(() => undefined));
    return errorPage(error, trace, { link, title: refused?.title ?? "This sign-in did not finish" });
  };
}

function errorPage(
  error: OAuthError,
  { flowId, referenceId }: Trace,
  { link, title: other }: { readonly link: BackLink | undefined; readonly title: string },
): Answer {
  const title = TITLES_BY_REASON[error.extras.reason ?? ""] ?? TITLES[error.status] ?? other;
  const about = error.extras.reason ?? error.code;
  const instead = INSTEAD_OF_STARTING_AGAIN[about];
  const again = instead ?? START_AGAIN_BY_REASON[about] ?? START_AGAIN;
  const content = html`<p>${error.description}.</p>
${error.status === 503 && error.extras.retry === undefined ? NOTHING_LOST : undefined}
${link === undefined || instead !== undefined ? html`<p>${again}</p>` : undefined}
${link === undefined ? undefined : html`<p><a class="button" href="${link.href}">${link.label}</a></p>`}
${MAY_COME_BACK.has(about) ? IF_IT_COMES_BACK : undefined}
<p class="quiet">Error <code>${error.code}</code>${reasonOf(error)}${labelled("flow", flowId)}${labelled("reference", referenceId)}</p>`;
  const body = page(title, content);
  // A challenge would make the browser ask the user for a password.
  if (error.status === 401) return pageAnswer(400, body, STYLE_HASH);
  return pageAnswer(error.status, body, STYLE_HASH, errorHeaders(error));
}

function reasonOf({ extras: { reason } }: OAuthError): Markup | undefined {
  return reason === undefined ? undefined : html` (<code>${reason}</code>)`;
}

function labelled(label: string, value: string | undefined): Markup | undefined {
  return value === undefined ? undefined : html`, ${label} <code>${value}</code>`;
}
