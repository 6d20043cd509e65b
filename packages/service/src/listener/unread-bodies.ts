/**
 * Throws away what a client still sends of a body after it was answered: 413, 401 and the like. One
 * that goes on sending is not read any more. It has a moment to read the response, and loses its
 * connection: if it lost it at once, its system would drop the response unread.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ignoreBody } from "./body-parser.ts";

/** What is on its way when the response is sent. */
const MOST_LATE_BYTES = 1024 * 1024;
const CHECK_MS = 5;
const READ_RESPONSE_MS = 500;

/** The server library ends such a connection too, after half a second or 64 MiB. */
//= bar#HT-1
export function endUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  // Ahead of Node's own listener.
  response.prependListener("finish", () => {
    if (request.complete) return;
    const destroyLater = () => setTimeout(() => socket.destroy(), READ_RESPONSE_MS);
    // Node closes a connection that is not kept at once; many proxies ask for such connections.
    socket.destroySoon = () => {
      socket.end();
      destroyLater();
    };
    const restore = ignoreBody(request);
    const from = socket.bytesRead;
    let lastMoment: NodeJS.Timeout | undefined;
    const timer = setInterval(() => {
      if (socket.bytesRead - from <= MOST_LATE_BYTES) return;
      clearInterval(timer);
      //= rfc9112#9.6
      if (stopReading(socket)) lastMoment = destroyLater();
      else socket.destroy();
    }, CHECK_MS);
    const end = (): void => {
      clearInterval(timer);
      clearTimeout(lastMoment);
      restore();
    };
    socket.once("close", end);
    const { push } = request;
    // Node says so at the end of the body, before it reads the next request.
    request.push = (chunk, encoding) => {
      if (chunk === null) {
        socket.off("close", end);
        end();
      }
      return push.call(request, chunk, encoding);
    };
  });
}

/**
 * `socket.pause()` does not reach a socket that Node's parser reads. Node does not document the
 * handle that does.
 *
 * @returns false without such a handle
 */
function stopReading(socket: Socket): boolean {
  const { _handle: handle } = socket as { readonly _handle?: { readonly readStop?: () => unknown } | null };
  //= bar#HT-1
  handle?.readStop?.();
  return handle?.readStop !== undefined;
}
