/**
 * Disconnects a user: deletes the tokens here, then revokes them at their issuer, best effort. New
 * tokens of a refresh that is under way are revoked too, and not stored (bearer.ts).
 */
import { BrokerClientError } from "@oauth-broker/broker-client";
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Connector } from "../connectors/connector.ts";
import { clientOfConnector } from "./client-of-connector.ts";
import type { ConnectDeps } from "./connect.ts";
import type { OpenConnection } from "./connections.ts";

/**
 * `none`: the user had no connection. `help`: what the user can do by hand when the grant may
 * remain.
 */
export type Disconnected = { readonly tokens: "none" | "revoked" } | { readonly tokens: "left"; readonly help: string };

const BY_HAND = "The grant may still exist at the vendor. Open your account settings there and remove the app.";

export async function disconnect(connector: Connector, userId: string, deps: ConnectDeps): Promise<Disconnected> {
  const { state } = await deps.connections.status(connector, userId);
  //= bar#RV-1
  const open = await deps.connections.forget(connector, userId);
  const outcome = open === undefined ? undefined : await revoke(connector, open, deps);
  // Tokens that may not be used any more cannot be revoked with the present credentials either.
  return outcome ?? (state === "none" ? { tokens: "none" } : { tokens: "left", help: BY_HAND });
}

async function revoke(connector: Connector, { tokens }: OpenConnection, deps: ConnectDeps): Promise<Disconnected> {
  try {
    const revoked = await (await clientOfConnector(connector, deps)).revoke(tokens);
    return revoked.outcome === "revoked" ? { tokens: "revoked" } : { tokens: "left", help: revoked.help };
  } catch (error) {
    if (error instanceof OAuthError || error instanceof BrokerClientError) return { tokens: "left", help: BY_HAND };
    throw error;
  }
}
