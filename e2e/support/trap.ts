/**
 * A server on loopback that must never receive a request: it records every request that reaches it,
 * credentials included.
 */
import { once } from "node:events";
import { createServer } from "node:http";

export interface Trap {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Method, path and the Authorization header of each. */
  requests(): readonly string[];
  close(): Promise<void>;
}

export async function startTrap(): Promise<Trap> {
  const requests: string[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    requests.push(`${method} ${url} ${headers.authorization ?? "(no credentials)"}`);
    response.end("[]");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The trap has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: () => requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
