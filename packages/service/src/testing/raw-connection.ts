/** A server at loopback for one test, and connections to it with bytes of the test's own. */
import { connect, type Socket } from "node:net";
import type { Hono } from "hono";
import { onTestFinished } from "vitest";
import { type HttpTimeouts, listen, type Listening, type ListenOptions } from "../serve.ts";

/** @returns a server that stops with the test */
export async function listenForTest(
  app: Hono,
  options: Partial<ListenOptions> = {},
  timeouts?: Partial<HttpTimeouts>,
): Promise<Listening> {
  const server = await listen(app, { host: "127.0.0.1", port: 0, ...options }, timeouts);
  onTestFinished(() => server.stop(0));
  return server;
}

/** @returns a connection that sends this and reads nothing yet; it ends with the test */
export function openUnread(port: number, bytes: string, from = "127.0.0.1"): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  socket.write(bytes);
  return socket;
}

export interface RawConnection {
  readonly socket: Socket;
  /** What it was sent so far. */
  readonly received: () => string;
  /** All it was sent, once it is closed; a reset is an end too. */
  readonly whole: Promise<string>;
}

export function openRaw(port: number, bytes: string, from?: string): RawConnection {
  const socket = openUnread(port, bytes, from);
  let received = "";
  socket.on("data", (part: Buffer) => (received += part.toString()));
  return {
    socket,
    received: () => received,
    whole: new Promise((resolve) => socket.on("close", () => resolve(received))),
  };
}
