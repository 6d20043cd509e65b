/**
 * Checks the vendor's callback before its code is used: it belongs to this user, comes from this
 * vendor, and is a success.
 */
import { toOAuthError } from "@oauth-broker/oauth-core";
import { relayedError } from "@oauth-broker/oauth-core/client";
import { type Parameters, parseParameters } from "@oauth-broker/oauth-core/protocol";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { readVendorAnswer, type VendorAnswer } from "@oauth-broker/oauth-core/brokered-code";
import { invalidCallback, queryOfCallback } from "../callback.ts";
import { BrokerClientError } from "../error.ts";
import { requireState, type Session } from "../session.ts";
import { problem } from "./problem.ts";

/**
 * @throws BrokerClientError invalid_session, invalid_callback; the vendor's error, translated, when
 *   the callback carries one
 */
export function readVendorCallback(callbackUrl: string | URL, session: Session, vendor: ResolvedVendor): VendorAnswer {
  const parameters = readParameters(queryOfCallback(callbackUrl, session.redirectUri));
  requireState(session, parameters.get("state"));
  const answer = readAnswer(parameters, session, vendor);
  if ("error" in answer) throw problem(relayedError(answer.error, parameters, vendor, "environment"));
  return answer;
}

function readParameters(query: string): Parameters {
  try {
    return parseParameters(query);
  } catch {
    throw malformed();
  }
}

//= bar#CB-11
//= rfc9207#2.4
function readAnswer(
  parameters: Parameters,
  session: Session,
  vendor: ResolvedVendor,
): ReturnType<typeof readVendorAnswer> {
  try {
    return readVendorAnswer(parameters, vendor, session);
  } catch (error) {
    const { description, extras } = toOAuthError(error);
    if (extras.reason === "malformed_response") throw malformed();
    throw new BrokerClientError("invalid_callback", description, extras);
  }
}

function malformed(): BrokerClientError {
  return invalidCallback("malformed", "The callback is not an authorization response");
}
