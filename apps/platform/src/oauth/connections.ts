/**
 * Users' connections on any RecordStore, the tokens sealed under the key file of the data folder
 * and bound to user, connector and recipient. A connection made with other credentials than the
 * present settings must be authorized again: its tokens are not used.
 */
import type { Tokens } from "@oauth-broker/broker-client";
import { defined, type EpochSeconds, type JsonObject, Secret } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import type { LinkEvents } from "@oauth-broker/service/events";
import type { Connector } from "../connectors/connector.ts";
import { openSecret, type SealedStore, sealSecret } from "../connectors/connector-secrets.ts";
import { type Kept, keptRecords } from "../connectors/kept-records.ts";
import { recipientOfConnector } from "./recipient.ts";

/**
 * `none`: never connected, or disconnected. `reauthorize`: only the user can restore it, by
 * connecting again.
 */
type ConnectionState = "none" | "connected" | "reauthorize";

/** How the last attempt to connect ended, by the error codes of docs/api.md. Contains no secret. */
export interface ConnectFailure {
  readonly error: string;
  readonly description: string;
  /** Why, if the error alone would mislead: `user_not_assigned` is not a cancel. */
  readonly reason?: string;
  /** Names the flow in the broker's log. */
  readonly flowId?: string;
  /** The vendor's own code. */
  readonly vendorError?: string;
  readonly at: EpochSeconds;
}

/** The last flow that came back, of a connector without a server. */
export interface LastFlow {
  /** The broker's name for it. */
  readonly id?: string;
  readonly startedAt: EpochSeconds;
  readonly endedAt: EpochSeconds;
  readonly isConnected: boolean;
}

/** What pages may show. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** Of `reauthorize`, as a code: `credentials_changed`, `refused_by_server`, `invalid_grant`, … */
  readonly reason?: string;
  readonly connectedAt?: EpochSeconds;
  /** As granted, space-separated. */
  readonly scope?: string;
  /** Further scope that the server required for a call; the user grants it by connecting again. */
  readonly wantedScope?: string;
  readonly failure?: ConnectFailure;
  readonly flow?: LastFlow;
  /** By the user, who may still try what the tokens open. */
  readonly revokedAt?: EpochSeconds;
}

export interface OpenConnection {
  readonly tokens: Tokens;
  /** The revision of the tokens: it changes with every authorization and refresh, and only then. */
  readonly revision: string;
}

/** Data of a record of kind `connection`; its stage is the state. */
interface ConnectionData extends Omit<ConnectionStatus, "state"> {
  readonly v: 1;
  /** The revision of the record: new at every change. */
  readonly revision?: string;
  /** The revision of the tokens. Absent without tokens. */
  readonly tokensRevision?: string;
  /** The client, server and endpoints the tokens belong to (recipient.ts). */
  readonly recipient?: string;
  readonly tokens?: JsonObject;
}

export type Connections = ReturnType<typeof createConnections>;

export interface ConnectionsDeps extends SealedStore {
  /** Reports connections that end and return; absent: nothing is reported. */
  readonly events?: Pick<LinkEvents, "note">;
}

const BUSY = "Another request is changing this connection. Try again";

type KeptConnection = Kept<ConnectionState, ConnectionData>;

export function createConnections({ records, keys, now, events }: ConnectionsDeps) {
  const { find, change } = keptRecords<ConnectionState, ConnectionData>(records, "connection", BUSY);
  const idOf = (connector: Connector, userId: string): string => JSON.stringify([connector.id, userId]);

  const noteDead = ({ id }: Connector, user: string, reason: string, grant: string): void =>
    events?.note({ type: "link.dead", user, vendor: id, reason, grant });

  const openKept = async (
    kept: KeptConnection | undefined,
    connector: Connector,
    userId: string,
  ): Promise<OpenConnection | undefined> => {
    if (kept?.state !== "connected") return undefined;
    const { tokens, tokensRevision } = kept.data;
    if (tokens === undefined || tokensRevision === undefined) return undefined;
    if (isOfOthers(kept, connector)) {
      noteDead(connector, userId, "credentials_changed", tokensRevision);
      return undefined;
    }
    const opened = await openSecret(keys, tokens, placeOf(connector, userId));
    return { tokens: JSON.parse(opened.reveal()) as Tokens, revision: tokensRevision };
  };

  return {
    status: async (connector: Connector, userId: string): Promise<ConnectionStatus> => {
      const kept = await find(idOf(connector, userId));
      if (kept === undefined) return { state: "none" };
      const { connectedAt, scope, wantedScope, reason, failure, flow, revokedAt } = kept.data;
      const rest = defined({ connectedAt, scope, wantedScope, failure, flow, revokedAt });
      if (isOfOthers(kept, connector)) return { state: "reauthorize", reason: "credentials_changed", ...rest };
      return { state: kept.state, ...defined({ reason }), ...rest };
    },

    /** @returns undefined when no connection may be used */
    open: async (connector: Connector, userId: string) =>
      openKept(await find(idOf(connector, userId)), connector, userId),

    /**
     * @param of.replacing for a refresh: the revision of the tokens it began with. If a new
     *   authorization or a disconnect replaced them in the meantime, the refreshed tokens belong to an
     *   abandoned grant and are dropped. Other changes of the connection are kept
     * @returns false for tokens that are dropped
     */
    save: async (
      connector: Connector,
      userId: string,
      tokens: Tokens,
      { replacing, flow }: { readonly replacing?: string; readonly flow?: LastFlow | undefined } = {},
    ): Promise<boolean> => {
      const sealed = await sealSecret(keys, new Secret(JSON.stringify(tokens)), placeOf(connector, userId));
      const granted = { tokens: sealed, tokensRevision: randomToken(16), recipient: recipientOfConnector(connector) };
      const scope = tokens.scope === undefined ? {} : { scope: tokens.scope };
      const saved = await change(idOf(connector, userId), (kept) => {
        if (replacing === undefined)
          return connected({ v: 1, ...granted, ...scope, connectedAt: now(), ...defined({ flow }) });
        if (kept?.data.tokensRevision !== replacing) return undefined;
        return connected({ ...kept.data, ...granted, ...scope });
      });
      if (replacing === undefined) events?.note({ type: "link.restored", user: userId, vendor: connector.id });
      return saved !== undefined;
    },

    /**
     * Deletes the tokens.
     * @param used the revision of those that did not work: newer ones stay
     */
    markForReauthorization: async (connector: Connector, userId: string, reason: string, used: string) => {
      const marked = await change(idOf(connector, userId), (kept) => {
        if (kept?.data.tokensRevision !== used) return undefined;
        const { v, connectedAt, wantedScope, failure, flow } = kept.data;
        const rest = defined({ connectedAt, wantedScope, failure, flow });
        return { state: "reauthorize" as const, data: { v, reason, ...rest } };
      });
      if (marked !== undefined) noteDead(connector, userId, reason, used);
    },

    /**
     * A call needs more scope than was granted. The connection stays usable for everything else.
     * @param used the revision of its tokens
     */
    wantScope: async (connector: Connector, userId: string, wantedScope: string, used: string): Promise<void> => {
      await change(idOf(connector, userId), (kept) => {
        if (kept?.state !== "connected" || kept.data.tokensRevision !== used) return undefined;
        return connected({ ...kept.data, wantedScope });
      });
    },

    /** A failed attempt does not change an existing connection. */
    recordFailure: async (connector: Connector, userId: string, failure: ConnectFailure, flow?: LastFlow) => {
      await change(idOf(connector, userId), (kept) => ({
        state: kept?.state ?? "none",
        data: { v: 1, ...kept?.data, failure, ...defined({ flow }) },
      }));
    },

    /** @param used the revision of the tokens, which stay */
    noteRevoked: async (connector: Connector, userId: string, used: string): Promise<void> => {
      await change(idOf(connector, userId), (kept) =>
        kept?.data.tokensRevision === used ? { ...kept, data: { ...kept.data, revokedAt: now() } } : undefined,
      );
    },

    /** @returns what could be used until then: the tokens of a refresh that ended just now, too */
    forget: async (connector: Connector, userId: string): Promise<OpenConnection | undefined> => {
      const id = idOf(connector, userId);
      const ended = await change(id, async (kept) => {
        if (kept === undefined) return undefined;
        return { state: "none" as const, data: { v: 1 as const }, open: await openKept(kept, connector, userId) };
      });
      await records.delete({ kind: "connection", id });
      return ended?.open;
    },
  };
}

const connected = (data: ConnectionData) => ({ state: "connected", data }) as const;

/**
 * The tokens belong to another client than the settings: shared credentials became the connector's
 * own, or the client or the token endpoint changed.
 */
function isOfOthers({ state, data: { recipient } }: KeptConnection, connector: Connector): boolean {
  //= bar#BY-4
  return state === "connected" && recipient !== recipientOfConnector(connector);
}

const placeOf = (connector: Connector, userId: string): readonly string[] => [
  "tokens of a connection",
  connector.id,
  userId,
  recipientOfConnector(connector),
];
