/**
 * What a connection may hold of answers that its other side does not read. The number of
 * connections, and how many requests each may bring, are limited in serve.ts.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Ends a connection whose other side takes nothing of an answer: not before half of `milliseconds`
 * and not after all of them. One that takes a little in each half stays, and so does one that waits
 * for an answer.
 */
//= bar#HT-5
export function endStalledWrites(server: Server, milliseconds: number): void {
  // Node's own timer: it fires after so long without a byte in or out. A byte that goes out unseen
  // in between costs it a second round, hence the half.
  const quietMs = milliseconds / 2;
  server.timeout = quietMs;
  server.on("timeout", (socket: Socket) => {
    // Between two requests Node sets a time of its own.
    const isKeptAlive = socket.timeout !== quietMs;
    if (socket.writableLength > 0) socket.resetAndDestroy();
    else if (isKeptAlive) socket.destroy();
    else socket.setTimeout(quietMs);
  });
}

/** Requests that wait on one connection for the answers before theirs. */
const MAX_WAITING = 16;

/**
 * A pipelined request is begun when the answers before it have gone out: a connection holds one
 * answer at a time, whatever it has asked for. One that asks for too much ahead is ended.
 */
//= bar#HT-5
export function createTurnTaking(): (request: IncomingMessage, response: ServerResponse, answer: () => void) => void {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }, response, answer) => {
    // A response has the connection only when its turn to be written has come.
    if (response.socket !== null) {
      answer();
      return;
    }
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > MAX_WAITING) {
      // A reset: what the system still holds for a reader that does not read goes with it.
      socket.resetAndDestroy();
      return;
    }
    response.once("socket", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      answer();
    });
  };
}
