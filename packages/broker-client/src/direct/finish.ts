/**
 * Checks the vendor's callback before its code is used: it belongs to this user, comes from this
 * vendor, and is a success.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { relayedError } from "@oauth-broker/oauth-core/vendor-client";
import { parseParameters } from "@oauth-broker/oauth-core/protocol";
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
//= bar#CB-11
//= rfc9207#2.4
export function readVendorCallback(callbackUrl: string | URL, session: Session, vendor: ResolvedVendor): VendorAnswer {
  const query = queryOfCallback(callbackUrl, session.redirectUri);
  try {
    const parameters = parseParameters(query);
    requireState(session, parameters.get("state"));
    const answer = readVendorAnswer(parameters, vendor, session);
    if ("error" in answer) throw problem(relayedError(answer.error, parameters, vendor, "environment"));
    return answer;
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    // What cannot be parsed has no reason.
    const { reason = "malformed_response" } = error.extras;
    if (reason !== "malformed_response") throw new BrokerClientError("invalid_callback", error.description, { reason });
    throw invalidCallback("malformed", "The callback is not an authorization response");
  }
}
