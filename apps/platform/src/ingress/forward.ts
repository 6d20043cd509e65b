/**
 * Forwards one request to a deployed server on this machine and streams the answer back: events
 * reach the caller as the server sends them. The platform's only outbound path in addition to
 * egress, which buffers; it reaches only the address of a deployment.
 */
import { type IncomingMessage, request as open } from "node:http";
import { Socket } from "node:net";
import { PassThrough, Readable, type Writable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { OAuthError } from "@oauth-broker/oauth-core";
import { type Answer, errorAnswer, jsonAnswer } from "@oauth-broker/oauth-core/http";
import { refusal } from "../refusal.ts";
import { type RequestHeaderRules, requestHeaders, responseHeaders } from "./forwarded-headers.ts";

/** `host` is the authority of the server's DEPLOYMENT_URL. */
export interface Destination extends RequestHeaderRules {
  readonly target: { readonly host: string; readonly port: number };
  /** Ends the caller's connection, so that a truncated answer does not look complete. */
  readonly breakOff: () => void;
}

export interface ForwardLimits {
  /** Limits the body of a request. */
  readonly bodyBytes: number;
  /** From the connection to the headers of the answer. A stream may last longer. */
  readonly answerMs: number;
}

export const DEFAULT_LIMITS: ForwardLimits = { bodyBytes: 4 * 1024 * 1024, answerMs: 60_000 };

/**
 * A new connection for each request: a reused one that the server closes in the meantime would lose
 * a request that must not be sent twice. A server may answer early and close: what it can no longer
 * be sent is dropped, so that its answer is still read.
 */
function connectTo({ host, port }: Destination["target"]): Socket {
  const socket = new Socket();
  const { _write: write, _writev: writeAll } = socket;
  const dropping: Pick<Socket, "_write" | "_writev"> = {
    _write: (chunk, encoding, done) => write.call(socket, chunk, encoding, () => done()),
    _writev: (chunks, done) => writeAll?.call(socket, chunks, () => done()),
  };
  return Object.assign(socket, dropping).connect(port, host);
}
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * @param request its path and query go to the server unchanged
 * @returns the server's answer, or one of the ingress: 413 too large, 502 broken, 503 down, 504
 *   silent
 */
export function forward(
  request: Request,
  { target, breakOff, ...rules }: Destination,
  limits: ForwardLimits,
): Promise<Response | Answer> {
  if (Number(request.headers.get("content-length") ?? 0) > limits.bodyBytes) return Promise.resolve(tooLarge(limits));
  const { pathname, search } = new URL(request.url);
  return new Promise((resolve) => {
    const outgoing = open({
      createConnection: () => connectTo(target),
      method: request.method,
      path: pathname + search,
      headers: requestHeaders(request.headers, rules),
      setHost: false,
    });
    const settle = (answer: Response | Answer): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    const giveUp = (answer: Answer): void => {
      settle(answer);
      outgoing.destroy();
    };
    const silent = () => giveUp(badAnswer(504, "gateway_timeout", "The server did not answer in time"));
    const timer = setTimeout(silent, limits.answerMs);
    outgoing.on("error", ({ code }: NodeJS.ErrnoException) => settle(code === "ECONNREFUSED" ? down() : broken()));
    outgoing.on("response", (incoming) => {
      if (!isFinal(incoming)) giveUp(badAnswer(502, "bad_gateway", "The server answered with an invalid status"));
      else settle(toResponse(incoming, request, { connectorId: rules.connectorId, breakOff }));
    });
    // The caller disconnected, so the server can stop.
    request.signal.addEventListener("abort", () => outgoing.destroy(), { once: true });
    if (request.body === null) outgoing.end();
    else sendBody(request.body, outgoing, limits, () => giveUp(tooLarge(limits)));
  });
}

function sendBody(body: ReadableStream, outgoing: Writable, { bodyBytes }: ForwardLimits, refuse: () => void): void {
  let size = 0;
  const source = Readable.fromWeb(body);
  source.on("error", () => outgoing.destroy());
  source.on("data", (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > bodyBytes) {
      source.destroy();
      refuse();
    }
  });
  source.pipe(outgoing);
}

/** Node's client passes on any three digits; no other status can be sent to the caller. */
function isFinal({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode <= 599;
}

function toResponse(
  incoming: IncomingMessage,
  request: Request,
  { connectorId, breakOff }: Pick<Destination, "connectorId" | "breakOff">,
): Response {
  const { statusCode = 502 } = incoming;
  const headers = responseHeaders(incoming.rawHeaders, connectorId);
  if (WITHOUT_BODY.has(statusCode) || request.method === "HEAD") {
    incoming.resume();
    return new Response(null, { status: statusCode, headers });
  }
  const body = new PassThrough();
  const cutShort = (): void => {
    if (incoming.complete || body.destroyed) return;
    breakOff();
    body.end();
  };
  incoming.on("error", cutShort).on("close", cutShort).pipe(body);
  // The caller disconnected.
  body.on("close", () => incoming.destroy());
  return new Response(Readable.toWeb(body) as globalThis.ReadableStream, { status: statusCode, headers });
}

const down = (): Answer =>
  errorAnswer(refusal("server_down", "The server is not running. Try again later", "temporarily_unavailable"));

const broken = (): Answer => badAnswer(502, "bad_gateway", "The server closed the connection before it answered");

const badAnswer = (status: 502 | 504, error: string, description: string): Answer =>
  jsonAnswer(status, { error, error_description: description });

function tooLarge({ bodyBytes }: ForwardLimits): Answer {
  const description = `The body is larger than ${bodyBytes} bytes`;
  return errorAnswer(new OAuthError("invalid_request", description, { status: 413 }));
}
