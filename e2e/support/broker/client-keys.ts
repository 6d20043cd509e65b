/**
 * Key pairs of clients that authenticate with private_key_jwt, and a server that publishes the
 * public half.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";
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
  let current: string | undefined = jwks;
  const headers = { "Content-Type": "application/json" };
  const { url, received, close } = await startScriptedVendor({
    "*": () => (current === undefined ? { status: 503, headers } : { headers, body: current }),
  });
  return {
    jwksUri: `${url}/jwks.json`,
    count: () => received.length,
    publish: (next) => {
      current = next;
    },
    close,
  };
}
