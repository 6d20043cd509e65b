/** What the legs of the server's own callback share. */
import { errorRedirect, type Answer, type ClientReturn } from "@oauth-broker/oauth-core/hono";
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { ServerCallback } from "../../settings.ts";
import type { HostedDeps } from "../deps.ts";
import type { FindServerClient } from "./client.ts";

export interface ServerCallbackDeps extends HostedDeps {
  readonly callback: ServerCallback;
  readonly findClient: FindServerClient;
}

/** An error that leaves as a redirect: told to the client, and logged like one that left as a page. */
//= bar#AS-18
export function refuseToClient(error: OAuthError, to: ClientReturn, trace: Trace): Answer {
  trace.failure = error;
  return errorRedirect(error, to);
}

/** Anybody may come to a browser path with anything: a page, no redirect, nobody asked. */
export function refusePage(trace: Trace, reason: string, cause?: unknown): OAuthError {
  trace.reason = reason;
  return new OAuthError("invalid_request", SENTENCES[reason] ?? "This sign-in cannot go on", { reason, cause });
}

const SENTENCES: Readonly<Record<string, string>> = {
  state_unknown: "This answer belongs to no sign-in that is under way here",
  state_replayed: "This sign-in was already answered",
  browser_mismatch: "This sign-in began in another browser",
  issuer_mismatch: "The answer is from another vendor",
  malformed_response: "The answer cannot be read",
  client_unknown: "The application that began this sign-in is not known here any more",
  csrf: "The page was not shown to this browser, is too old, or the application has changed since: go back and open it again",
};
