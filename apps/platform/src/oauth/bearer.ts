/**
 * The token for a user's call to a server, in every mode: the user's vendor token, the server's own
 * token, or the platform's token for a server without OAuth. Refreshes it in time, with one refresh
 * per connection at a time. Caller: agent/.
 */
import { createSharedCalls, OAuthError, type Secret } from "@oauth-broker/oauth-core";
import { isSubset, parseScope } from "@oauth-broker/oauth-core/protocol";
import type { Connector } from "../connectors/connector.ts";
import { refusal } from "../refusal.ts";
import { clientOfConnector } from "./client-of-connector.ts";
import { type ConnectDeps, mayAskFor } from "./connect.ts";
import type { OpenConnection } from "./connections.ts";

export interface Bearer {
  readonly token: string;
  /**
   * The revision of its connection; absent for the platform's own token, which no user can
   * authorize again.
   */
  readonly revision?: string;
}

export type Bearers = ReturnType<typeof createBearers>;

export interface BearerDeps extends ConnectDeps {
  readonly platformToken: (connectorId: string) => Promise<Secret>;
}

/** A token that expires on its way to the server is useless. */
const MARGIN_SECONDS = 30;

export function createBearers(deps: BearerDeps) {
  const { connections, now, platformToken } = deps;
  const refreshes = createSharedCalls<Bearer>();

  const refresh = async (
    connector: Connector,
    userId: string,
    { tokens, revision }: OpenConnection,
  ): Promise<Bearer> => {
    if (tokens.refreshToken === undefined) return reauthorize(connector, userId, "expired", revision);
    const client = await clientOfConnector(connector, deps);
    const refreshed = await client.refresh(tokens);
    switch (refreshed.outcome) {
      case "ok": {
        const isSaved = await connections.save(connector, userId, refreshed.tokens, { replacing: revision });
        // The refreshed tokens, or those of an authorization completed in the meantime.
        const kept = await connections.open(connector, userId);
        if (kept !== undefined) return bearerOf(kept);
        // The user has disconnected. Not beside other tokens: their grant may be the same.
        //= bar#RV-4
        if (!isSaved) await client.revoke(refreshed.tokens).catch(() => undefined);
        return notConnected();
      }
      case "retry_later": {
        const { retryAfterSeconds, reason } = refreshed;
        throw new OAuthError("temporarily_unavailable", "The token cannot be refreshed now", {
          reason,
          retryAfterSeconds,
        });
      }
      case "reauthorize": {
        const kept = await connections.open(connector, userId);
        if (kept !== undefined && kept.revision !== revision) return bearerOf(kept);
        return reauthorize(connector, userId, refreshed.reason, revision);
      }
      case "credentials_rejected":
        throw new OAuthError(
          "vendor_credentials_rejected",
          "The vendor refused this connector's client credentials. An administrator has to correct them under Settings",
        );
    }
  };

  const reauthorize = async (connector: Connector, userId: string, reason: string, used: string): Promise<never> => {
    await connections.markForReauthorization(connector, userId, reason, used);
    throw new OAuthError("invalid_grant", "The connection has ended. Connect again", { reason: "reauthorize" });
  };

  return {
    /**
     * @param refused a bearer the server refused: another one is needed
     * @throws OAuthError invalid_grant, reason `not_connected` or `reauthorize`, when only the user
     *   can help; temporarily_unavailable; vendor_credentials_rejected
     */
    bearerFor: async (connector: Connector, userId: string, refused?: Bearer): Promise<Bearer> => {
      if (connector.settings.registration === "none") {
        return { token: (await platformToken(connector.id)).reveal() };
      }
      const open = await connections.open(connector, userId);
      if (open === undefined) return notConnected();
      const isRefused = refused !== undefined && refused.revision === open.revision;
      if (isRefused && open.tokens.refreshToken === undefined) {
        return reauthorize(connector, userId, "refused_by_server", open.revision);
      }
      const { expiresAt = Number.POSITIVE_INFINITY } = open.tokens;
      if (!isRefused && expiresAt - MARGIN_SECONDS > now()) return bearerOf(open);
      // A second caller waits for the first's refresh: a vendor that rotates would answer two at once
      // by ending the grant.
      return refreshes.run(JSON.stringify([connector.id, userId]), () => refresh(connector, userId, open));
    },
    /**
     * The server refuses a fresh token too: only the user can change that.
     * @throws OAuthError invalid_grant, reason `reauthorize`
     */
    giveUp: async (connector: Connector, userId: string, { revision }: Bearer): Promise<never> => {
      if (revision !== undefined) return reauthorize(connector, userId, "refused_by_server", revision);
      throw new OAuthError(
        "server_error",
        "The server refused the platform's token. Tell the operator of the platform",
      );
    },
    /**
     * The server requires more scope for a call than the bearer has.
     *
     * @param scope as its 403 names it; undefined when it names none
     * @throws OAuthError invalid_grant, reason `insufficient_scope`, when the user can grant it by
     *   connecting again; vendor_response_invalid, reason `scope_refused`, when it was granted
     *   already, because asking again would never end; reason `scope_not_allowed`, when an
     *   administrator restricted the scopes and this is not one of them
     */
    //= mcp-2026-07-28/authorization#scope-challenge-handling
    stepUp: async (connector: Connector, userId: string, { revision }: Bearer, scope?: string): Promise<never> => {
      const { scope: granted } = await connections.status(connector, userId);
      if (revision === undefined || scope === undefined || isSubset(parseScope(scope), parseScope(granted ?? ""))) {
        const said = "The server requires scope that the token already has. Tell the author of the server";
        throw refusal("scope_refused", said, "vendor_response_invalid");
      }
      if (!mayAskFor(scope, connector)) {
        const said = "The server requires scope that Settings do not allow. An administrator has to add it there";
        throw refusal("scope_not_allowed", said, "vendor_response_invalid");
      }
      await connections.wantScope(connector, userId, scope, revision);
      const said = "The server requires more scope than you granted. Connect again to grant it";
      throw refusal("insufficient_scope", said, "invalid_grant");
    },
  };
}

const bearerOf = ({ tokens: { accessToken: token }, revision }: OpenConnection): Bearer => ({ token, revision });

function notConnected(): never {
  throw new OAuthError("invalid_grant", "You are not connected. Connect first", { reason: "not_connected" });
}
