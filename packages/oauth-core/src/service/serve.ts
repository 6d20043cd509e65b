/**
 * Listens, and stops gracefully: readiness fails at once, connections end with their next response
 * or after a grace period, requests in flight finish, the process exits 0. Limits of the Node layer
 * are set here (bar HT-5).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import type { Hono } from "hono";
import { DEFAULT_IDLE_SECONDS, DEFAULT_MAX_CONNECTIONS } from "../configuration/values.ts";
import { createTurnTaking, endStalledWrites } from "./unread-answers.ts";

/** A server that accepts connections. */
export interface Listening {
  readonly port: number;
  /**
   * Waits for requests in flight, at most `DRAIN_MS`.
   *
   * @param graceMs how long connections are still accepted; each ends with its next response
   */
  stop(graceMs: number): Promise<void>;
}

const DRAIN_MS = 10_000;
/** In place of `idleMs` while the server stops. */
const STOPPING_IDLE_MS = 50;

/** How long a client may take, in milliseconds. */
export interface HttpTimeouts {
  /** Default 10,000. Until the headers of a request have arrived. */
  readonly headersMs: number;
  /** Default 15,000. Until the whole request has arrived. */
  readonly requestMs: number;
  /** Default 5,000. Between two requests of a connection. */
  readonly idleMs: number;
  /** Default 2,000. Between two checks of these limits: a connection may exceed them by as much. */
  readonly checkMs: number;
  /** Default 30,000. How long a response may wait for a client that reads nothing of it. */
  readonly stalledWriteMs: number;
}

/** The defaults of `listen`. */
//= bar#HT-5
export const HTTP_TIMEOUTS: HttpTimeouts = {
  headersMs: 10_000,
  requestMs: 15_000,
  idleMs: DEFAULT_IDLE_SECONDS * 1000,
  checkMs: 2_000,
  stalledWriteMs: 30_000,
};
const MAX_HEADER_BYTES = 16 * 1024;
const REQUESTS_PER_CONNECTION = 1_000;

/** Where a server listens, and how many connections it holds. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Further ones are closed at once. Default `DEFAULT_MAX_CONNECTIONS`. */
  readonly maxConnections?: number;
  /**
   * How long a connection may be idle between two requests. Default `DEFAULT_IDLE_SECONDS`. Behind a
   * load balancer it must be longer than the balancer keeps idle connections: else a request meets
   * the end of its connection, and is lost.
   */
  readonly idleSeconds?: number;
}

/**
 * @param timeouts others than `HTTP_TIMEOUTS`
 * @throws Error with `code` EADDRINUSE, EACCES, …
 */
export async function listen(
  app: Hono,
  { host, port, maxConnections = DEFAULT_MAX_CONNECTIONS, idleSeconds = DEFAULT_IDLE_SECONDS }: ListenOptions,
  timeouts: Partial<HttpTimeouts> = {},
): Promise<Listening> {
  const idle = { idleMs: idleSeconds * 1000 };
  const { headersMs, requestMs, idleMs, checkMs, stalledWriteMs } = { ...HTTP_TIMEOUTS, ...idle, ...timeouts };
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
    // Of a request without Host, which HTTP/1.0 allows: health checks of some balancers send it.
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
  };
  const server = createServer(limits, (request, response) =>
    inTurn(request, response, () => {
      if (isGetWithBody(request)) refuseBody(request, response);
      else void answer(request, response);
    }),
  );
  server.maxHeadersCount = 100;
  //= bar#HT-5
  server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
  server.maxConnections = maxConnections;
  endStalledWrites(server, stalledWriteMs);
  server.on("clientError", refuseUnreadable);
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
      await stop(server, graceMs);
    },
  };
}

/** A request that never reached the app: its Host or path does not make a URL. */
function refuseMalformed(error: unknown): Response {
  // Anything else is a bug of ours and must not be reported as the caller's.
  if (!(error instanceof RequestError)) throw error;
  const body = { error: "invalid_request", error_description: "The request is malformed" };
  return Response.json(body, { status: 400, headers: { "cache-control": "no-store", connection: "close" } });
}

/** Below HTTP: a request the parser refused gets its status, uncacheable. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status = STATUS_BY_PARSER_ERROR[error.code ?? ""] ?? "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n`);
}

const STATUS_BY_PARSER_ERROR: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/**
 * The body of a GET is never read: an endless one would hold its connection until the request times
 * out (bar HT-1).
 */
function isGetWithBody({ method, headers }: IncomingMessage): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
}

//= bar#HT-1
function refuseBody({ socket }: IncomingMessage, response: ServerResponse): void {
  response.once("finish", () => socket.destroySoon());
  const body = JSON.stringify({ error: "invalid_request", error_description: "GET takes no body" });
  const headers = { "content-type": "application/json", "cache-control": "no-store", connection: "close" };
  response.writeHead(400, headers).end(body);
}

async function stop(server: Server, graceMs: number): Promise<void> {
  // Load balancers see /readyz fail during the grace period and send new requests elsewhere.
  await sleep(graceMs);
  // One whose last response ends from now on would otherwise stay open as long as its client likes.
  server.keepAliveTimeout = STOPPING_IDLE_MS;
  server.keepAliveTimeoutBuffer = 0;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const deadline = new AbortController();
  await Promise.race([closed, sleep(DRAIN_MS, undefined, { signal: deadline.signal }).catch(() => undefined)]);
  deadline.abort();
  server.closeAllConnections();
}
