/**
 * Requests to the broker: one Fetch, no redirect followed, one deadline, and an error that says
 * whether the request can have arrived. Uses the global `fetch` when the caller gives none: its connections are
 * the program's responsibility.
 */
import type { Fetch } from "../ports.ts";
import { BrokerClientError } from "../error.ts";
import { readBody } from "./body.ts";

const TIMEOUT_MS = 15_000;
const RETRY_SECONDS = 5;

/** @returns a Fetch with complete responses: a connection lost within the body fails the call */
export function brokerFetch(given: Fetch | undefined, timeoutMs: number = TIMEOUT_MS): Fetch {
  const send = given ?? fetch;
  return async (input, init) => {
    try {
      const timeout = AbortSignal.timeout(timeoutMs);
      const answer = await send(input, { ...withBareFormType(init), redirect: "manual", signal: timeout });
      const { status, headers } = answer;
      const body = await readBody(answer);
      return new Response(body.byteLength === 0 ? null : body, { status, headers });
    } catch (error) {
      if (error instanceof BrokerClientError) throw error;
      // No cause: what fetch throws may hold the request, and that holds our credentials.
      throw isUnsent(error)
        ? unavailable("The broker cannot be reached", "broker_unreachable")
        : unavailable("The broker's response did not arrive", "response_lost");
    }
  };
}

/** The type of a form has no parameter; the web's fetch and oauth4webapi add a `charset`. */
//= rfc6749#B
function withBareFormType(init: RequestInit | undefined): RequestInit | undefined {
  if (!(init?.body instanceof URLSearchParams)) return init;
  const headers = new Headers(init.headers);
  headers.set("content-type", "application/x-www-form-urlencoded");
  return { ...init, headers };
}

function unavailable(description: string, reason: string): BrokerClientError {
  return new BrokerClientError("temporarily_unavailable", description, { reason, retryAfterSeconds: RETRY_SECONDS });
}

/** By the error codes of Node.js and undici. Any other failure may have come after the request. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|CERT_\w+|UNABLE_TO_\w+|\w*SELF_SIGNED\w*)$/;

/** @returns whether nothing of the request left this process; oauth-core's egress says so itself */
function isUnsent(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, sent, cause } = error as { readonly code?: unknown; readonly sent?: unknown; readonly cause?: unknown };
  return sent === false || (typeof code === "string" && NO_CONNECTION.test(code)) || isUnsent(cause);
}
