/**
 * A node:http server on loopback that listens before its handler exists: with a free port the
 * address must be known before the provider, whose issuer it is, can be created.
 */
import { once } from "node:events";
import { createServer } from "node:http";

export type Listening = Awaited<ReturnType<typeof listen>>;

/**
 * Longer than any test leaves a connection idle: a server that closes it just then looks like an
 * outage.
 */
const KEEP_ALIVE_MS = 600_000;

/**
 * @param port 0 for a free one
 * @throws Error of node:net when the port is taken
 */
export async function listen(port: number, host: "127.0.0.1" | "localhost" = "127.0.0.1") {
  const server = createServer();
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return {
    server,
    port: address.port,
    /** No trailing slash. */
    url: `http://${host}:${address.port}`,
    /** Ends open connections too. */
    async close(): Promise<void> {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
