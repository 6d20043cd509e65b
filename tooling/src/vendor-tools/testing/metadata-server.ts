/**
 * An issuer on loopback that publishes any metadata of a test, including what no proper server
 * publishes.
 */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface MetadataServer {
  readonly issuer: string;
  /** Its metadata; undefined: it has none. Any other path answers 404. */
  document: object | undefined;
}

/** Closed with the test. */
export async function startMetadataServer(
  make: (issuer: string) => object | undefined = goodMetadata,
): Promise<MetadataServer> {
  const server = createServer((request, response) => {
    const isFound = request.url === "/.well-known/oauth-authorization-server" && known.document !== undefined;
    response.writeHead(isFound ? 200 : 404, { "content-type": "application/json" });
    response.end(isFound ? JSON.stringify(known.document) : "{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const known: MetadataServer = { issuer, document: make(issuer) };
  return known;
}

export function goodMetadata(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ["code"],
  };
}
