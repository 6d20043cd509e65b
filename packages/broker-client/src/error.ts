/**
 * The one error of this package. Whatever went wrong, at the broker, at the vendor, on the network
 * or with the session, a backend can act on `code` alone.
 */

/** All optional; texts are printable ASCII. */
export interface BrokerClientErrorDetails {
  /** Which rule or deadline, in one word. */
  readonly reason?: string;
  /** `restart`: something was spent and its response is lost, so only a new flow helps. */
  readonly retry?: "restart";
  /** Names the flow in the broker's log and in `broker flow ID`. */
  readonly flowId?: string;
  /** The vendor's own error code. */
  readonly vendorError?: string;
  /** Whose client credentials the vendor refused: `shared`, `byoc` or `environment`. */
  readonly credentialsSource?: string;
  /** What the user can do by hand. */
  readonly help?: string;
  /** When to try again; present when trying again may help. */
  readonly retryAfterSeconds?: number;
  /** Names the incident in the broker's log, with `server_error`. */
  readonly referenceId?: string;
}

/**
 * `code` is an error code of the broker (docs/api.md): `access_denied`, `invalid_grant`,
 * `vendor_credentials_rejected`, `temporarily_unavailable`, … or one of our own:
 * - `invalid_session`, reason `missing`, `malformed`, `state_mismatch`, `expired`, `used`,
 *   `other_client`: the callback is not this user's flow. Nothing was sent; start again.
 * - `invalid_callback`, reason `missing_issuer`, `issuer_mismatch`, `wrong_path`, `malformed`: not
 *   a response to our request.
 * - `invalid_response`, reason `not_encrypted`, `not_decryptable`, `malformed`, `too_large`,
 *   `not_a_broker`: not what the broker's API promises.
 */
export class BrokerClientError extends Error {
  override readonly name = "BrokerClientError";
  readonly code: string;
  readonly description: string;
  readonly details: BrokerClientErrorDetails;

  constructor(code: string, description: string, details: BrokerClientErrorDetails = {}) {
    super(`${code}: ${description}`);
    this.code = code;
    this.description = description;
    this.details = details;
  }
}

/** The same call may succeed later. */
export function isOutage({ code, details }: BrokerClientError): boolean {
  return (code === "temporarily_unavailable" || code === "slow_down") && details.retry !== "restart";
}

/** The broker does not say what its API promises. */
export function invalidResponse(reason: string, description: string): BrokerClientError {
  return new BrokerClientError("invalid_response", description, { reason });
}

/** @returns a function that makes a call, and throws what `translate` makes of its error */
export function translatingBy(translate: (error: unknown) => BrokerClientError) {
  return async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      throw translate(error);
    }
  };
}

/**
 * @throws BrokerClientError invalid_request for an empty token, so that no request is sent for it
 */
export function requireToken(token: string): void {
  if (typeof token === "string" && token !== "") return;
  throw new BrokerClientError("invalid_request", "The token is empty");
}
