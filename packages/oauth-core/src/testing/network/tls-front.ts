/** A TLS proxy in front of a server on loopback, as deployments have one. No client trusts its certificate. */
import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createTestAuthority } from "@oauth-broker/oauth-core/testing";

export interface TlsFront {
  readonly url: string;
  close(): Promise<void>;
}

/** @param to the port of the server */
export async function startTlsFront(to: string): Promise<TlsFront> {
  const server = createServer(createTestAuthority().issue(["127.0.0.1"]), (incoming, answer) => {
    const { method, url, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port: to, method, path: url, headers }, (inside) => {
      answer.writeHead(inside.statusCode ?? 502, inside.headers);
      inside.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
