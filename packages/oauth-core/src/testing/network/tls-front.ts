/** A TLS proxy in front of a server on loopback, as deployments have one. */
import { request } from "node:http";
import { createServer } from "node:https";
import { createTestAuthority, type TestAuthority } from "./certificates.ts";
import { listen } from "./listen.ts";

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
  const { port, close } = await listen(server);
  return { url: `https://127.0.0.1:${port}`, close };
}
