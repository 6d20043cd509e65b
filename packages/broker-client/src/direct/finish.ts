/** The browser is back from the vendor: the callback is this user's, this vendor's, and a success, before its code is used. */
import {
  type Parameters,
  parseParameters,
  relayedError,
  requireIssuer,
  type ResolvedVendor,
} from "@oauth-broker/oauth-core";
import { callbackRefused, queryOfCallback } from "../callback.ts";
import { BrokerClientError } from "../error.ts";
import { requireState, type Session } from "../session.ts";
import { problem } from "./problem.ts";

export interface VendorCallback {
  readonly code: string;
  readonly iss?: string;
  /** Further parameters that the vendor's entry hands on. */
  readonly data: Readonly<Record<string, string>>;
}

/** @throws BrokerClientError session_refused, callback_refused; the vendor's error, in our words, when the callback carries one */
export function readVendorCallback(
  callbackUrl: string | URL,
  session: Session,
  vendor: ResolvedVendor,
): VendorCallback {
  const parameters = readParameters(queryOfCallback(callbackUrl, session.redirectUri));
  requireState(session, parameters.get("state"));
  const issExpected = vendor.issExpected || session.issExpected === true;
  requireVendorIssuer({ ...vendor, issExpected }, parameters.sent("iss"));
  const code = parameters.get("code");
  const error = parameters.get("error");
  //= bar#CB-11
  if ((code === undefined) === (error === undefined)) throw malformed();
  if (error !== undefined) throw problem(relayedError(error, parameters, vendor, "environment"));
  const iss = parameters.get("iss");
  return {
    code: parameters.require("code"),
    ...(iss === undefined ? {} : { iss }),
    data: handedOn(parameters, vendor),
  };
}

function readParameters(query: string): Parameters {
  try {
    return parseParameters(query);
  } catch {
    throw malformed();
  }
}

//= rfc9207#2.4
function requireVendorIssuer(vendor: ResolvedVendor, iss: string | undefined): void {
  try {
    requireIssuer(vendor, iss);
  } catch (error) {
    const { description, details } = problem(error);
    throw new BrokerClientError("callback_refused", description, details);
  }
}

function handedOn(parameters: Parameters, { callbackParams }: ResolvedVendor): Record<string, string> {
  const sent = callbackParams.map((name) => [name, parameters.get(name)] as const);
  return Object.fromEntries(sent.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}

function malformed(): BrokerClientError {
  return callbackRefused("malformed", "The callback is not an answer to an authorization request");
}
