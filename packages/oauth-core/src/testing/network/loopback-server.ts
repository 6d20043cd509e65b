/**
 * A TCP server on 127.0.0.1 that sends exactly the bytes a test requires, so that broken and
 * hostile HTTP can be produced.
 */
import { createServer, type Server, type Socket } from "node:net";
import { listen } from "./listen.ts";

export interface LoopbackServer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly port: number;
  /** Everything received, one string per connection, in order of connecting. */
  readonly received: readonly string[];
  close(): Promise<void>;
}

/**
 * @param answer called with each connection once a whole request head arrived, and again for each
 *   further request on it
 * @param server another kind of server to listen with, such as a TLS one
 */
export async function startLoopbackServer(
  answer: (socket: Socket, requestNumber: number) => void,
  {
    server = createServer(),
    connection = "connection",
  }: { server?: Server; connection?: "connection" | "secureConnection" } = {},
): Promise<LoopbackServer> {
  const received: string[] = [];
  server.on(connection, (socket: Socket) => {
    const index = received.push("") - 1;
    let requests = 0;
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      received[index] += chunk.toString("latin1");
      const heads = (received[index] ?? "").split("\r\n\r\n").length - 1;
      while (requests < heads) answer(socket, (requests += 1));
    });
  });
  const { port, close } = await listen(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    received,
    close,
  };
}

/** A whole HTTP/1.1 answer with a Content-Length. */
export function httpAnswer(
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Buffer {
  const content = Buffer.from(body);
  const lines = Object.entries({ "content-length": `${content.length}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Text\r\n${lines.join("")}\r\n`, "latin1"), content]);
}
