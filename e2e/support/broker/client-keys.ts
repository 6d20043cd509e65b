/**
 * Key pairs of clients that authenticate with private_key_jwt, and a server that publishes the
 * public half.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { exportJWK, generateKeyPair, type JWK } from "jose";

export interface ClientKeys {
  readonly privateKey: CryptoKey;
  readonly kid: string;
  /** Public, as JSON: YAML reads it as a mapping. */
  readonly jwks: string;
}

export async function createClientKeys(kid: string, alg: "ES256" | "Ed25519" = "ES256"): Promise<ClientKeys> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
  return { privateKey, kid, jwks: JSON.stringify({ keys: [jwk] }) };
}

export interface PublishedKeys {
  readonly jwksUri: string;
  /** How often it was requested. */
  count(): number;
  /**
   * From now on.
   * @param jwks absent: the server is down
   */
  publish(jwks?: string): void;
  close(): Promise<void>;
}

export async function publishKeys(jwks: string): Promise<PublishedKeys> {
  let count = 0;
  let current: string | undefined = jwks;
  const server = createServer((_request, response) => {
    count += 1;
    response.writeHead(current === undefined ? 503 : 200, { "Content-Type": "application/json" }).end(current);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return {
    jwksUri: `http://127.0.0.1:${address.port}/jwks.json`,
    count: () => count,
    publish: (next) => {
      current = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
