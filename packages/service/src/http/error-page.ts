/**
 * The page a browser sees when no redirect is allowed: what happened, what to do, and the way back.
 */
import { type Answer, errorHeaders, pageAnswer } from "@oauth-broker/oauth-core/http";
import type { OAuthError } from "@oauth-broker/oauth-core";
import { type BackLink, html, type Markup, page, type PageFrame, STYLE_HASH } from "../page.ts";
import { ENGLISH_ERRORS, type ErrorTexts } from "./error-texts.ts";
import type { Route, Trace } from "./http-layer.ts";

/** @param trace the client of the flow, if it is known, and why the page is shown */
export type WayBack = (trace: Pick<Trace, "clientId" | "reason">) => Promise<BackLink | undefined>;

/** In which words and in which frame error pages are shown. */
export interface ErrorPageLook {
  readonly texts: ErrorTexts;
  readonly frame: PageFrame;
}

const ENGLISH: ErrorPageLook = { texts: ENGLISH_ERRORS, frame: { language: "en", direction: "ltr" } };

/** Errors for which starting again may help, once. */
const MAY_COME_BACK: ReadonlySet<string> = new Set([
  "issuer_mismatch",
  "missing_issuer",
  "malformed_response",
  "path_mismatch",
  "context_mismatch",
]);

/**
 * @param wayBack finds the link back to the application; absent: the page says where to start again
 * @param look default: English, and no one's in particular
 */
export function errorPageWith(
  wayBack: WayBack = async () => undefined,
  look: ErrorPageLook = ENGLISH,
): (error: OAuthError, trace: Trace, route?: Pick<Route, "refused">) => Promise<Answer> {
  const { texts, frame } = look;
  return async (error, trace, { refused } = {}) => {
    const { flowId, referenceId } = trace;
    const link = refused?.back ?? (await wayBack(trace).catch(() => undefined));
    const other = refused?.title ?? texts.unfinished;
    const title = texts.titlesByReason[error.extras.reason ?? ""] ?? texts.titles[error.status] ?? other;
    const about = error.extras.reason ?? error.code;
    const instead = texts.insteadOfStartingAgain[about];
    const again = instead ?? texts.startAgainByReason[about] ?? texts.startAgain;
    const content = html`${describe(error, frame)}
${error.status === 503 && error.extras.retry === undefined ? html`<p>${texts.nothingLost}</p>` : undefined}
${link === undefined || instead !== undefined ? html`<p>${again}</p>` : undefined}
${link === undefined ? undefined : html`<p><a class="button" href="${link.href}">${link.label}</a></p>`}
${MAY_COME_BACK.has(about) ? html`<p>${texts.ifItComesBack}</p>` : undefined}
<p class="quiet">${texts.error} <code>${error.code}</code>${reasonOf(error)}${labelled(texts.flow, flowId)}${labelled(texts.reference, referenceId)}</p>`;
    const body = page(title, content, frame);
    // A challenge would make the browser ask the user for a password.
    if (error.status === 401) return pageAnswer(400, body, STYLE_HASH);
    return pageAnswer(error.status, body, STYLE_HASH, errorHeaders(error));
  };
}

/** The sentence that clients get too, which is English. */
function describe({ description }: OAuthError, { language }: PageFrame): Markup {
  return language === "en" ? html`<p>${description}.</p>` : html`<p class="quiet" lang="en">${description}.</p>`;
}

function reasonOf({ extras: { reason } }: OAuthError): Markup | undefined {
  return reason === undefined ? undefined : html` (<code>${reason}</code>)`;
}

function labelled(label: string, value: string | undefined): Markup | undefined {
  return value === undefined ? undefined : html`, ${label} <code>${value}</code>`;
}
