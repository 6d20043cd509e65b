/**
 * What went wrong, as the page shows it: the code, the broker's sentence, the flow's id, what to
 * do.
 */
import { BrokerClientError } from "@oauth-broker/broker-client";
import { defined } from "@oauth-broker/oauth-core";

export interface Problem {
  /** The code of RFC 6749, of the broker, or of its client. */
  readonly code: string;
  readonly description: string;
  /** What this means for the user. */
  readonly advice: string;
  readonly flowId?: string;
  readonly vendorError?: string;
}

const ADVICE: Readonly<Record<string, string>> = {
  access_denied: "You cancelled at the vendor, so nothing was connected. Connect again whenever you like.",
  invalid_grant: "This connection has ended. Connect again to get a new one.",
  invalid_request: "Something in the request is wrong. The details are below.",
  invalid_client: "The broker does not know this platform under its client id and secret.",
  temporarily_unavailable: "Something on the way did not answer. Try again in a moment.",
  slow_down: "Too many requests at once. Try again in a minute.",
  unsupported_token_type: "This vendor has no way to revoke a token. It can be ended by hand in the vendor's settings.",
  vendor_credentials_rejected: "The vendor no longer accepts the client credentials that the broker uses.",
};

/** The vendor's own reason, for which no code is registered. */
const REFUSED = "The vendor refused. What it requires first is below.";
const START_OVER = "Start over. If it happens again, the flow id below finds it in the broker's log.";

export function describeProblem(error: unknown): Problem {
  const known =
    error instanceof BrokerClientError
      ? error
      : new BrokerClientError("server_error", "Something went wrong in the sample platform");
  const { code, description, details } = known;
  const { help, reason, flowId, vendorError } = details;
  const isOwnReason =
    code === "server_error" ? vendorError !== undefined : code === "access_denied" && reason !== undefined;
  return {
    code,
    description: description === "" ? "No description was given" : description,
    advice: help ?? (isOwnReason ? REFUSED : (ADVICE[code] ?? START_OVER)),
    ...defined({ flowId, vendorError }),
  };
}
