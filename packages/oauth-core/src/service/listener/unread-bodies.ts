/**
 * Ends the connection of a client that goes on sending a body after it was answered: 413, 401 and
 * the like. It may read why for a moment, in which what it sends is thrown away.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

/** What is on its way when the response is sent. */
const MOST_LATE_BYTES = 1024 * 1024;
const CHECK_MS = 25;

/** The server library ends such a connection too, after half a second or 64 MiB. */
//= bar#HT-1
export function endUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  response.once("finish", () => {
    if (request.complete) return;
    const from = socket.bytesRead;
    const timer = setInterval(() => {
      if (request.complete) clearInterval(timer);
      else if (socket.bytesRead - from > MOST_LATE_BYTES) socket.destroy();
    }, CHECK_MS);
    socket.once("close", () => clearInterval(timer));
  });
}
