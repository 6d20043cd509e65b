/**
 * Checks the callback before its code is used: it belongs to this user, comes from the broker, and
 * is a success.
 */
import { AuthorizationResponseError, type Client, validateAuthResponse } from "oauth4webapi";
import { invalidCallback, queryOfCallback } from "../callback.ts";
import type { BrokerClientError } from "../error.ts";
import { requireState, type Session } from "../session.ts";
import { errorOf } from "./answer-error.ts";
import type { BrokerMetadata } from "./metadata.ts";

/**
 * @returns the parameters, including the code
 * @throws BrokerClientError invalid_session, invalid_callback; the broker's error when the callback
 *   carries one
 */
export function readBrokerCallback(
  callbackUrl: string | URL,
  session: Session,
  { server, client }: { readonly server: BrokerMetadata; readonly client: Client },
): URLSearchParams {
  const parameters = new URLSearchParams(queryOfCallback(callbackUrl, session.redirectUri));
  const sent = requireOnce(parameters);
  requireState(session, sent["state"]);
  requireBrokerIssuer(sent["iss"], server.issuer);
  //= bar#CB-11
  if (Boolean(sent["code"]) === Boolean(sent["error"])) throw malformed();
  try {
    return validateAuthResponse(server, client, parameters, session.state);
  } catch (error) {
    throw error instanceof AuthorizationResponseError ? errorOf(sent) : malformed();
  }
}

/** oauth4webapi treats an empty `iss` as absent. */
//= rfc9207#2.4
function requireBrokerIssuer(iss: string | undefined, issuer: string): void {
  if (iss === undefined) throw invalidCallback("missing_issuer", "The callback does not identify its issuer");
  if (iss !== issuer) throw invalidCallback("issuer_mismatch", "The callback is not from this broker");
}

/** @throws BrokerClientError for a repeated parameter: which of the two was meant is ambiguous */
//= rfc6749#3.1
function requireOnce(parameters: URLSearchParams): Readonly<Record<string, string | undefined>> {
  const sent = new Map(parameters);
  if (sent.size !== parameters.size) throw malformed();
  return Object.fromEntries(sent);
}

function malformed(): BrokerClientError {
  return invalidCallback("malformed", "The callback is not an authorization response");
}
