/** Authenticates this client: a secret with Basic, or its own key. */
import { type Client, type ClientAuth, ClientSecretBasic, PrivateKeyJwt } from "oauth4webapi";

/**
 * The client registered at the broker: its id, with a secret (client_secret_basic) or a private key
 * (private_key_jwt).
 */
export interface ClientCredentials {
  readonly clientId: string;
  /** Exactly one of the two. */
  readonly clientSecret?: string;
  /** Its public half is in the broker's configuration. With `kid` when there are several. */
  readonly privateKey?: CryptoKey | { readonly key: CryptoKey; readonly kid: string };
}

/** @throws Error unless exactly one kind of credentials is given */
export function clientAuthentication({ clientSecret, privateKey }: ClientCredentials): ClientAuth {
  if (clientSecret !== undefined && clientSecret !== "" && privateKey === undefined) {
    return ClientSecretBasic(clientSecret);
  }
  //= rfc7523#3
  if (privateKey !== undefined && clientSecret === undefined) return PrivateKeyJwt(privateKey);
  throw new Error("createBrokerClient needs either clientSecret or privateKey");
}

/**
 * @returns the Authorization header for a request whose body is not a form: an assertion is then a
 *   Bearer token
 */
export async function authorizationHeader(
  authenticate: ClientAuth,
  server: Parameters<ClientAuth>[0],
  client: Client,
): Promise<string> {
  const body = new URLSearchParams();
  const headers = new Headers();
  await authenticate(server, client, body, headers);
  return headers.get("authorization") ?? `Bearer ${body.get("client_assertion") ?? ""}`;
}
