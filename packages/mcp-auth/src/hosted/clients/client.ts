/**
 * The clients of the authorization server, and where their users may be redirected to. Every client
 * is public and proves a code with PKCE alone.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { StaticClient } from "../../settings.ts";

export type HostedClient = Pick<StaticClient, "clientId" | "redirectUris">;

/** @returns undefined for an unknown client */
export type FindClient = (clientId: string) => Promise<HostedClient | undefined>;

/** A client as the consent page and the redirect check use it, from any source. */
export interface ServerClient extends StaticClient {
  /** Who vouches for it: the operator's list, the host of its metadata document, or neither. */
  readonly knownBy: "configuration" | "metadata_document" | "registration";
}

export type FindServerClient = (clientId: string) => Promise<ServerClient | undefined>;

/**
 * The client of a token or revocation request. A client secret is refused, not ignored: no client
 * has one.
 *
 * @param authorization the header as received
 * @throws OAuthError invalid_request for credentials in two places or no `client_id`;
 *   invalid_client
 */
//= rfc6749#3.2.1
//= bar#AS-20
export async function requireClient(
  authorization: string | undefined,
  parameters: Parameters,
  findClient: FindClient,
): Promise<HostedClient> {
  const posted = ["client_secret", "client_assertion", "client_assertion_type"].some((name) => parameters.has(name));
  if (authorization !== undefined && posted) {
    throw new OAuthError("invalid_request", "Use one client authentication method at a time");
  }
  const challenge = challengeFor(authorization);
  if (authorization !== undefined || posted) {
    throw new OAuthError("invalid_client", "Clients of this server are public: send client_id alone", { challenge });
  }
  const client = await findClient(parameters.require("client_id"));
  if (client === undefined) throw new OAuthError("invalid_client", "No such client", { challenge });
  return client;
}

/**
 * The scheme that the client used. This server knows no Basic, and browsers ask their user for a
 * password if it is named: a client that sent no header is not answered with it.
 */
//= rfc6749#5.2
function challengeFor(authorization: string | undefined): "Basic" | "Bearer" {
  //= bar#AS-20
  return authorization === undefined || /^bearer\b/i.test(authorization) ? "Bearer" : "Basic";
}
