/**
 * Responses to what never reaches a route: the parser refused it, or it is nothing that we serve.
 * They cannot be cached, and each ends its connection.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type Answer, jsonAnswer, pageAnswer } from "@oauth-broker/oauth-core/http";
import { html, page, STYLE_HASH } from "../page.ts";

/** How long a client that still sends may read why it is refused. */
const LINGER_MS = 1_000;

/** Below HTTP: a request the parser refused gets its status. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  // More of a request that was refused: closing now would take the response from its client.
  if (refused.has(socket)) return;
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    refuseLate(socket);
    return;
  }
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  refused.add(socket);
  socket.end(written(error.code === "HPE_HEADER_OVERFLOW" ? TOO_LONG : { ...EMPTY, status: 400 }));
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

const refused = new WeakSet<Duplex>();

/** A request did not come in time. What still comes of it is not read: it must not be acted on. */
export function refuseLate(socket: Duplex): void {
  if (!socket.writable) socket.destroy();
  else socket.end(written({ ...EMPTY, status: 408 }), () => socket.destroy());
}

const EMPTY = { headers: { "cache-control": "no-store" }, body: "" } as const;

/** Cookies of a parent domain, or of many sign-ins at once, are what makes headers this long. */
const TOO_LONG = pageAnswer(
  431,
  page(
    "Your browser sent too much",
    html`<p>The cookies that your browser keeps for this site and its domain are longer than this server accepts.</p>
<p>Delete the cookies of this site in your browser, then start again from the application that sent you here.</p>
<p class="quiet">Error <code>431</code>: request header fields too large</p>`,
  ),
  STYLE_HASH,
);

const PHRASES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

function written({ status, headers, body }: Answer): string {
  const text = String(body ?? "");
  const fields = { ...headers, "content-length": String(Buffer.byteLength(text)), connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${PHRASES[status]}\r\n${lines.join("")}\r\n${text}`;
}

/** Refuses a request before any route sees it. */
export function refuse(description: string, request: IncomingMessage, response: ServerResponse, status = 400): void {
  end(jsonAnswer(status, { error: "invalid_request", error_description: description }), request, response);
}

/** For a target that is not a plain path. */
export function refuseTarget(request: IncomingMessage, response: ServerResponse): void {
  const description = "There is nothing at this path";
  const isBrowser = (request.headers.accept ?? "").includes("text/html");
  const answer = isBrowser
    ? pageAnswer(404, page("There is no such page", html`<p>${description}.</p>`), STYLE_HASH)
    : jsonAnswer(404, { error: "not_found", error_description: description });
  end(answer, request, response);
}

function end({ status, headers, body }: Answer, { socket }: IncomingMessage, response: ServerResponse): void {
  response.once("finish", () => socket.destroySoon());
  response.writeHead(status, { ...headers, connection: "close" }).end(body);
}
