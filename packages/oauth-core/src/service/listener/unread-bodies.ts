/**
 * Throws away what a client still sends of a body after it was answered: 413, 401 and the like. It
 * may read why for a moment, and one that goes on sending loses its connection.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { ignoreBody } from "./body-parser.ts";

/** What is on its way when the response is sent. */
const MOST_LATE_BYTES = 1024 * 1024;
const CHECK_MS = 5;

/** The server library ends such a connection too, after half a second or 64 MiB. */
//= bar#HT-1
export function endUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  response.once("finish", () => {
    if (request.complete) return;
    const restore = ignoreBody(request);
    const from = socket.bytesRead;
    const timer = setInterval(() => {
      if (socket.bytesRead - from > MOST_LATE_BYTES) socket.destroy();
    }, CHECK_MS);
    const end = (): void => {
      clearInterval(timer);
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
