/** The state of a connector and of a user's connection, in words. */
import { html, type Markup } from "@oauth-broker/service/page";
import type { ConnectorState } from "../connectors/connector.ts";
import type { ConnectFailure, ConnectionStatus } from "../oauth/connections.ts";

export const STATE_WORDS: Readonly<Record<ConnectorState, string>> = { draft: "Draft", active: "Active" };

const REASONS: Readonly<Record<string, string>> = {
  credentials_changed: "the client or the endpoints of the connector changed",
  refused_by_server: "the server no longer takes your token",
  expired: "your token expired and cannot be refreshed",
};

/** In one line. */
export function statusLine({ state, reason = "", wantedScope }: ConnectionStatus): string {
  if (state === "none") return "Not connected";
  if (state === "connected" && wantedScope !== undefined) return "Connected. A tool needs more scope. Connect again";
  if (state === "connected") return "Connected";
  return `Connect again: ${REASONS[reason] ?? "the vendor ended your connection"}`;
}

const FAILURES: Readonly<Record<string, string>> = {
  access_denied: "You cancelled at the vendor. Nothing has changed.",
  vendor_credentials_rejected:
    "The vendor refused the client credentials of this connector. An administrator updates them under Settings.",
};

/** The text about a failed attempt: the standardized error, and what to do. */
export function failureNotice({ error, description, reason, flowId, vendorError, at }: ConnectFailure): Markup {
  const flow = flowId === undefined ? undefined : html`, flow <code>${flowId}</code>`;
  const isOther = vendorError !== undefined && vendorError !== error;
  const own = isOther ? html` (the vendor's own: <code>${vendorError}</code>)` : undefined;
  // A vendor's file gives a reason if the user has not cancelled.
  const isOwnSentence = FAILURES[error] === undefined || (error === "access_denied" && reason !== undefined);
  const next = error === "temporarily_unavailable" ? " Wait a moment, then connect again." : "";
  return html`<div class="notice" role="alert"><p>${isOwnSentence ? `${description}.${next}` : FAILURES[error]}</p>
<p class="quiet">Error <code>${error}</code>${own}${flow}, ${time(at)}</p></div>`;
}

/** @param at epoch seconds */
export function time(at: number): Markup {
  const iso = new Date(at * 1000).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
}
