/**
 * A node:http server on loopback that listens before its handler exists: with a free port the
 * address must be known before the provider, whose issuer it is, can be created.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";

export interface Listening {
  readonly server: Server;
  readonly port: number;
  /** `http://HOST:PORT`, no trailing slash. */
  readonly url: string;
  /** Ends open connections too. */
  close(): Promise<void>;
}

/**
 * Longer than any test leaves a connection idle: a server that closes it just then looks like an
 * outage.
 */
const KEEP_ALIVE_MS = 600_000;

/**
 * @param port 0 for a free one
 * @throws Error of node:net when the port is taken
 */
export async function listen(port: number, host: "127.0.0.1" | "localhost" = "127.0.0.1"): Promise<Listening> {
  const server = createServer();
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return {
    server,
    port: address.port,
    url: `http://${host}:${address.port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
