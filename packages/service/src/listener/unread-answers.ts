/**
 * Limits what a connection may buffer of responses that its client does not read. The number of
 * connections, and the requests per connection, are limited in ../serve.ts.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Ends a connection whose client reads nothing of a response: not before half of `milliseconds` and
 * not after all of them. A client that reads a little in each half stays connected, and so does one
 * that waits for a response.
 */
//= bar#HT-5
export function endStalledWrites(server: Server, milliseconds: number): void {
  // Node's own timer fires after this long without a byte in or out. A byte sent just before gives
  // the connection a second round, hence the half.
  const quietMs = milliseconds / 2;
  server.timeout = quietMs;
  server.on("timeout", (socket: Socket) => {
    // Between two requests Node sets its own time.
    const isKeptAlive = socket.timeout !== quietMs;
    if (socket.writableLength > 0) socket.resetAndDestroy();
    else if (isKeptAlive) socket.destroy();
    else socket.setTimeout(quietMs);
  });
}

/** Pipelined requests that wait on one connection for the responses before theirs. */
const MAX_WAITING = 16;

/**
 * A pipelined request starts when the responses before it have been sent: a connection buffers one
 * response at a time, for any number of requests. A connection that pipelines too many is ended.
 */
//= bar#HT-5
export function createTurnTaking(): (request: IncomingMessage, response: ServerResponse, answer: () => void) => void {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }, response, answer) => {
    // A response gets the connection only when its turn to be written has come.
    if (response.socket !== null) {
      answer();
      return;
    }
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > MAX_WAITING) {
      // A reset also drops what the system still buffers for the client.
      socket.resetAndDestroy();
      return;
    }
    response.once("socket", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      answer();
    });
  };
}
