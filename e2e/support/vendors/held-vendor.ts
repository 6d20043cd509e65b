/** A token endpoint that answers on command: for what happens to a broker while it waits. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

export interface HeldVendor {
  readonly tokenEndpoint: string;
  /** Resolves when a complete request was received. */
  readonly received: Promise<void>;
  /**
   * Answers it.
   * @param answer default: tokens
   */
  release(answer?: object): void;
  close(): Promise<void>;
}

export async function startHeldVendor(): Promise<HeldVendor> {
  const { promise: received, resolve } = Promise.withResolvers<void>();
  const waiting: ServerResponse[] = [];
  const server = createServer((request, response) => {
    waiting.push(response);
    request.resume().on("end", resolve);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return {
    tokenEndpoint: `http://127.0.0.1:${address.port}/token`,
    received,
    release: (answer = { access_token: "held-access-token", token_type: "bearer" }) => {
      for (const response of waiting.splice(0)) {
        response.writeHead(200, { "Content-Type": "application/json" });
        response.end(JSON.stringify(answer));
      }
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
