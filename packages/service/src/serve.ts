/**
 * Listens, and stops gracefully: readiness fails at once, connections end with their next response
 * or after a grace period, requests in flight finish, the process exits 0. Limits of the Node layer
 * are set here (bar HT-5).
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import type { Hono } from "hono";
import { CONNECTIONS, IDLE_SECONDS } from "./configuration/values.ts";
import { endChoppedBody } from "./listener/chopped-bodies.ts";
import { type FreshConnections, shareConnections, trackFreshConnections } from "./listener/connections.ts";
import { refuse, refuseLate, refuseTarget, refuseUnreadable } from "./listener/refusals.ts";
import { isPlainTarget, namesOneHost } from "./listener/request-target.ts";
import { endUnreadBody } from "./listener/unread-bodies.ts";
import { createTurnTaking, endStalledWrites } from "./listener/unread-answers.ts";

/** A server that accepts connections. */
export interface Listening {
  readonly port: number;
  /**
   * Waits for requests in flight, at most `drainMs`.
   *
   * @param graceMs how long connections are still accepted; each ends with its next response
   */
  stop(graceMs: number): Promise<void>;
}

/** Instead of `idleMs` while the server stops. */
const STOPPING_IDLE_MS = 50;

/** How long a client may take, in milliseconds: the defaults of `listen`. */
//= bar#HT-5
export const HTTP_TIMEOUTS: HttpTimeouts = {
  /** Until the headers of a request have arrived. */
  headersMs: 10_000,
  /** Until the headers of a connection's first request have arrived. */
  firstRequestMs: 10_000,
  /** Until the whole request has arrived. */
  requestMs: 15_000,
  /** Between two requests of a connection. */
  idleMs: IDLE_SECONDS.usual * 1000,
  /** Between two checks of these limits: a connection may exceed them by as much. */
  checkMs: 2_000,
  /** How long a response may wait for a client that reads nothing of it. */
  stalledWriteMs: 30_000,
  /** How long a stop waits for requests in flight. */
  drainMs: 10_000,
};

/** How long a client may take, in milliseconds. */
export type HttpTimeouts = Readonly<
  Record<"headersMs" | "firstRequestMs" | "requestMs" | "idleMs" | "checkMs" | "stalledWriteMs" | "drainMs", number>
>;

/** Cookies of a parent domain come with every request. */
const MAX_HEADER_BYTES = 32 * 1024;
const REQUESTS_PER_CONNECTION = 1_000;

/** Where a server listens, and how many connections it holds. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /**
   * More are closed at once, and those of one address beyond a quarter of them. Default
   * `CONNECTIONS.usual`.
   */
  readonly maxConnections?: number;
  /** A proxy may take all of them. Default: none is known. */
  readonly isTrustedProxy?: (address: string) => boolean;
  /**
   * How long a connection may be idle between two requests. Default `IDLE_SECONDS.usual`. Behind
   * a load balancer it must be longer than the balancer keeps idle connections: else a request
   * meets the end of its connection, and is lost.
   */
  readonly idleSeconds?: number;
}

/**
 * @param timeouts others than `HTTP_TIMEOUTS`
 * @throws Error with `code` EADDRINUSE, EACCES, …
 */
export async function listen(
  app: Pick<Hono, "fetch">,
  {
    host,
    port,
    maxConnections = CONNECTIONS.usual,
    isTrustedProxy = () => false,
    idleSeconds = IDLE_SECONDS.usual,
  }: ListenOptions,
  timeouts: Partial<HttpTimeouts> = {},
): Promise<Listening> {
  const idle = { idleMs: idleSeconds * 1000 };
  const given = { ...HTTP_TIMEOUTS, ...idle, ...timeouts };
  const { headersMs, firstRequestMs, requestMs, idleMs, checkMs, stalledWriteMs, drainMs } = given;
  let isStopping = false;
  const fetch = async (request: Request, env: HttpBindings): Promise<Response> => {
    const response = await app.fetch(request, env);
    // A balancer could otherwise send its next request just as this connection ends.
    //= rfc9112#9.6
    if (isStopping) env.outgoing.shouldKeepAlive = false;
    return response;
  };
  const answer = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
    errorHandler: refuseMalformed,
    // For a request without Host, which HTTP/1.0 allows: health checks of some balancers send it.
    hostname: "localhost",
  });
  const inTurn = createTurnTaking();
  //= bar#HT-5
  const limits = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: checkMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Ours is stricter, and its answer cannot be cached.
    requireHostHeader: false,
  };
  const server = createServer(limits, (request, response) => {
    fresh.requested(request);
    if (hasBody(request)) {
      //= bar#HT-1
      endChoppedBody(request);
      //= bar#HT-1
      endUnreadBody(request, response);
    }
    inTurn(request, response, () => {
      if (!namesOneHost(request)) refuse("A request names one Host", request, response);
      else if (!isPlainTarget(request.url ?? "")) refuseTarget(request, response);
      // It is never read: an endless one would hold its connection until it times out.
      //= bar#HT-1
      else if (isGet(request) && hasBody(request)) refuse("GET takes no body", request, response);
      else void answer(request, response);
    });
  });
  server.maxHeadersCount = 100;
  //= bar#HT-5
  server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
  server.maxConnections = maxConnections;
  shareConnections(server, maxConnections, isTrustedProxy);
  const fresh = trackFreshConnections(server, firstRequestMs, refuseLate);
  endStalledWrites(server, stalledWriteMs);
  server.on("clientError", refuseUnreadable);
  // Node's own answer may be cached.
  //= rfc9110#10.1.1
  server.on("checkExpectation", (request, response) => {
    fresh.requested(request);
    refuse("Expect can only be 100-continue", request, response, 417);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    port: address.port,
    stop: async (graceMs) => {
      isStopping = true;
      await stop(server, fresh, graceMs, drainMs);
    },
  };
}

/** A request that never reached the app: its Host or path does not make a URL. */
function refuseMalformed(error: unknown): Response {
  // Anything else is our bug and must not be reported as the caller's.
  if (!(error instanceof RequestError)) throw error;
  const body = { error: "invalid_request", error_description: "The request is malformed" };
  return Response.json(body, { status: 400, headers: { "cache-control": "no-store", connection: "close" } });
}

function isGet({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
}

async function stop(server: Server, fresh: FreshConnections, graceMs: number, drainMs: number): Promise<void> {
  // Load balancers see /readyz fail during the grace period and send new requests elsewhere.
  await sleep(graceMs);
  // One whose last response ends from now on would otherwise stay open as long as its client likes.
  server.keepAliveTimeout = STOPPING_IDLE_MS;
  server.keepAliveTimeoutBuffer = 0;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // A browser opens connections ahead of its requests.
  fresh.endSilent();
  const deadline = new AbortController();
  await Promise.race([closed, sleep(drainMs, undefined, { signal: deadline.signal }).catch(() => undefined)]);
  deadline.abort();
  server.closeAllConnections();
}
