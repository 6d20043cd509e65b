/** The page of a refusal, which the legs with the server's own callback show. */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { FlowRefusal } from "@oauth-broker/oauth-core/brokered-code";
import type { Trace } from "@oauth-broker/service/http";

/** The 400 page: no redirect, no request to the vendor. */
export function refusePage(trace: Trace, refusal: FlowRefusal | "csrf", cause?: unknown): OAuthError {
  const reason = OF_NO_FLOW.has(refusal) ? "state_unknown" : refusal;
  trace.reason = reason;
  return new OAuthError("invalid_request", SENTENCES[reason] ?? "This sign-in cannot go on", { reason, cause });
}

/**
 * One message per reason, the same for every flow: a caller learns nothing about other users'
 * flows.
 */
const OF_NO_FLOW: ReadonlySet<string> = new Set<FlowRefusal>(["state_missing", "state_invalid", "flow_unknown"]);
const SENTENCES: Readonly<Record<string, string>> = {
  state_unknown: "This response does not belong to a sign-in in progress on this server",
  state_expired: "This sign-in took too long: begin it again in the application",
  state_replayed: "This sign-in was already answered",
  browser_mismatch: "This sign-in began in another browser",
  issuer_mismatch: "The response is from another issuer",
  missing_issuer: "The response does not identify its issuer",
  malformed_response: "The response cannot be read",
  client_unknown: "The application that began this sign-in is not known here any more",
  csrf: "The page was not shown to this browser, is too old, or the application has changed since: go back and open it again",
};
