/**
 * What a connection may take before it has sent a request: a place among those of its address, for a
 * short time. serve.ts limits how many there are together, and what follows.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { networkOf, plainAddress } from "./peer-network.ts";

/** One address takes at most this part of the connections, so that it shuts no other out. */
const PART_OF_ADDRESS = 4;

/**
 * Ends a connection at once whose address has its share already.
 *
 * @param isTrustedProxy its connections are those of many callers
 */
//= bar#HT-5
//= bar#ST-8
export function shareConnections(
  server: Server,
  maxConnections: number,
  isTrustedProxy: (address: string) => boolean,
): void {
  const most = Math.ceil(maxConnections / PART_OF_ADDRESS);
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? "unknown");
    if (isTrustedProxy(address)) return;
    const network = networkOf(address);
    const count = (open.get(network) ?? 0) + 1;
    //= bar#ST-8
    if (count > most) {
      socket.resetAndDestroy();
      return;
    }
    open.set(network, count);
    socket.once("close", () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  });
}

/** The connections that have sent no request yet. */
export type FreshConnections = ReturnType<typeof trackFreshConnections>;

/**
 * Ends a connection that has not sent the whole head of a request in time.
 *
 * @param end with what has arrived of a head: says so to the client
 */
//= bar#HT-5
export function trackFreshConnections(server: Server, firstRequestMs: number, end: (socket: Socket) => void) {
  const fresh = new Map<Socket, NodeJS.Timeout>();
  const forget = (socket: Socket): void => {
    clearTimeout(fresh.get(socket));
    fresh.delete(socket);
  };
  server.on("connection", (socket: Socket) => {
    if (socket.destroyed) return;
    const giveUp = (): void => (socket.bytesRead === 0 ? void socket.destroy() : end(socket));
    fresh.set(socket, setTimeout(giveUp, firstRequestMs));
    socket.once("close", () => forget(socket));
  });
  return {
    /** Call it with each request. */
    requested: ({ socket }: IncomingMessage): void => {
      if (fresh.size > 0) forget(socket);
    },
    /** Ends those that have sent nothing at all: Node counts them as busy. */
    endSilent: (): void => {
      for (const socket of fresh.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
