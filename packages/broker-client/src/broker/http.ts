/**
 * Requests to the broker: one Fetch, no redirect followed, one deadline, and an error that says
 * whether the request can have arrived. Uses the global `fetch` when the caller gives none: its connections are
 * the program's responsibility.
 */
import type { Fetch } from "../ports.ts";
import { BrokerClientError, invalidResponse } from "../error.ts";
import { connectOfRuntime, isUnsent, refusesConnections } from "./unsent.ts";

const TIMEOUT_MS = 15_000;
const RETRY_SECONDS = 5;
/** More than any answer of the broker has: a vendor's is 256 KiB at most, before it is encrypted. */
const MOST_BYTES = 1024 * 1024;
const FEW_CHUNKS = 256;
const BYTES_PER_CHUNK = 256;

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
      throw isUnsent(error) || (given === undefined && (await isRefusedNow(error, input)))
        ? unavailable("The broker cannot be reached", "broker_unreachable")
        : unavailable("The broker's response did not arrive", "response_lost");
    }
  };
}

/** For runtimes whose fetch does not say why it failed. What ran out of time may have arrived. */
async function isRefusedNow(error: unknown, url: string | URL): Promise<boolean> {
  if (error instanceof Error && error.name === "TimeoutError") return false;
  return refusesConnections(url, await connectOfRuntime());
}

/**
 * A broker in the wrong hands, or what answers in its place, must not take the memory of this
 * program. By the rule of oauth-core's byte collector, which needs Node.js and this folder does not.
 *
 * @throws BrokerClientError invalid_response for a body that is too long, or comes in too many chunks
 */
async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
    size += next.value.length;
    chunks.push(next.value);
    if (size <= MOST_BYTES && chunks.length <= FEW_CHUNKS + Math.floor(size / BYTES_PER_CHUNK)) continue;
    // Not awaited: what is left of the answer does not matter.
    void reader?.cancel().catch(() => undefined);
    throw invalidResponse("too_large", "The broker's response is too large");
  }
  return joined(chunks, size);
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
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
