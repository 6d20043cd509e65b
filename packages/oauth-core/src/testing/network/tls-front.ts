/** A TLS proxy in front of a server on loopback, as deployments have one. */
import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createTestAuthority, type TestAuthority } from "./certificates.ts";

export interface TlsFront {
  /** `https://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @param to the port of the server
 * @param authority who issues the certificate; by default one that no client trusts
 */
export async function startTlsFront(
  to: number | string,
  authority: TestAuthority = createTestAuthority(),
): Promise<TlsFront> {
  const server = createServer(authority.issue(["127.0.0.1"]), (incoming, answer) => {
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
