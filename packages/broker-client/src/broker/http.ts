/**
 * Requests to the broker: one Fetch, no redirect followed, one deadline, and an error that says
 * that no response came. Uses the global `fetch` when the caller gives none: its connections are
 * the program's responsibility.
 */
import type { Fetch } from "../ports.ts";
import { BrokerClientError } from "../error.ts";

const TIMEOUT_MS = 15_000;
const RETRY_SECONDS = 5;

/** @returns a Fetch with complete responses: a connection lost within the body fails the call */
export function brokerFetch(given: Fetch | undefined, timeoutMs: number = TIMEOUT_MS): Fetch {
  const send = given ?? fetch;
  return async (input, init) => {
    try {
      const timeout = AbortSignal.timeout(timeoutMs);
      const answer = await send(input, { ...init, redirect: "manual", signal: timeout });
      const { status, headers } = answer;
      const body = await answer.arrayBuffer();
      return new Response(body.byteLength === 0 ? null : body, { status, headers });
    } catch {
      // No cause: what fetch throws may hold the request, and that holds our credentials.
      throw new BrokerClientError("temporarily_unavailable", "The broker cannot be reached", {
        reason: "broker_unreachable",
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
  };
}
