/**
 * What went wrong, as the platform shows it: the standardized code, the broker's sentence, the flow's id, and what to do.
 * Reads the errors of oauth4webapi; everything else is the platform's own fault.
 */
import * as oauth from "oauth4webapi";

export interface Problem {
  /** The code of RFC 6749 or one of the broker's own. */
  readonly code: string;
  readonly description: string;
  /** For people: what this means for them. */
  readonly advice: string;
  readonly flowId?: string;
  readonly vendorError?: string;
}

const ADVICE: Readonly<Record<string, string>> = {
  access_denied: "You cancelled at the vendor, so nothing was connected. Connect again whenever you like.",
  invalid_grant: "This connection has ended. Connect again to get a new one.",
  invalid_request: "Something in the request does not fit. What it is stands below.",
  invalid_client: "The broker does not know this platform under its client id and secret.",
  temporarily_unavailable: "Something on the way did not answer. Try again in a moment.",
  slow_down: "Too many requests at once. Try again in a minute.",
  unsupported_token_type: "This vendor has no way to revoke a token. It can be ended by hand in the vendor's settings.",
  vendor_credentials_rejected: "The vendor no longer accepts the client credentials that the broker uses.",
};

/** A reason of the vendor's own, for which there is no registered code. */
const REFUSED = "The vendor refused. What it wants first is said below.";

type Members = Readonly<Record<string, unknown>>;

export async function describeProblem(error: unknown): Promise<Problem> {
  if (error instanceof oauth.AuthorizationResponseError) return fromMembers(Object.fromEntries(error.cause));
  if (error instanceof oauth.ResponseBodyError) return fromMembers(error.cause);
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return fromMembers(await bodyOf(error.response, "invalid_client"));
  if (error instanceof oauth.OperationProcessingError) {
    // A status of 5xx is not a conforming OAuth error to oauth4webapi, though its body is one.
    if (isResponse(error.cause)) return fromMembers(await bodyOf(error.cause, "server_error"));
    return fromMembers({ error: "invalid_response", error_description: error.message });
  }
  // What fetch throws when nobody answers, and AbortSignal.timeout.
  if (error instanceof TypeError || error instanceof DOMException) {
    return fromMembers({ error: "temporarily_unavailable", error_description: "The broker could not be reached" });
  }
  return fromMembers({ error: "server_error", error_description: "Something went wrong in the sample platform" });
}

function fromMembers(members: Members): Problem {
  const code = text(members["error"]) ?? "server_error";
  const flowId = text(members["flow_id"]);
  const vendorError = text(members["vendor_error"]);
  return {
    code,
    description: text(members["error_description"]) ?? "No description was given",
    advice:
      text(members["help"]) ??
      ADVICE[code] ??
      (code === "server_error" && vendorError !== undefined ? REFUSED : undefined) ??
      "Start over. If it happens again, the flow id below finds it in the broker's log.",
    ...(flowId === undefined ? {} : { flowId }),
    ...(vendorError === undefined ? {} : { vendorError }),
  };
}

/** Not `instanceof`: where @hono/node-server is loaded, the global Response is not the class that fetch answers. */
function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === "[object Response]";
}

async function bodyOf(response: Response, code: string): Promise<Members> {
  const body: unknown = response.bodyUsed ? undefined : await response.json().catch(() => undefined);
  return { error: code, ...(typeof body === "object" ? body : {}) };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
