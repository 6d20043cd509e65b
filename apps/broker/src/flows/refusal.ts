/**
 * Refusals of the browser legs: a 400 page, without a redirect and without anything from the
 * request. The reason goes to the log and the counters; the page shows the same advice to everyone.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { FlowRefusal } from "@oauth-broker/oauth-core/brokered-code";
import type { Trace } from "@oauth-broker/service/http";

/** The reasons of every flow, and those of the owner page. */
export type RefusalReason = FlowRefusal | "csrf_mismatch" | "decision_missing" | "page_not_needed";

const ADVICE: Partial<Record<RefusalReason, string>> = {
  request_uri_used: "Go back to the application and connect again",
  request_uri_unknown: "This link is not valid any more. Go back to the application and connect again",
  csrf_mismatch: "This page was too old or came from elsewhere. Go back to the application and connect again",
  state_missing:
    "You came here straight from a vendor, not from an application. What you installed or approved at the vendor is done there; nothing is connected here yet",
  state_expired: "This sign-in took too long. Go back to the application, and connect there if it is not connected",
  state_replayed: "Go back to the application; it may be connected already",
  client_unknown: "The application that began this sign-in is not registered here any more",
  browser_mismatch: "This sign-in was started in another browser, or too long ago. Connect again from the application",
};

export function refusePage(trace: Trace, reason: RefusalReason, cause?: unknown): OAuthError {
  trace.reason = reason;
  return new OAuthError(
    "invalid_request",
    ADVICE[reason] ?? "This sign-in cannot go on. Go back to the application and connect again",
    { reason, detail: reason, cause },
  );
}
