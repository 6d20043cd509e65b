/** One user's connection to one connector: the tokens, closed, and how it stands. Records: connections.ts. */
import type { EpochSeconds, JsonObject } from "@oauth-broker/oauth-core";
import type { Tokens } from "@oauth-broker/broker-client";

/** `none`: never connected, or disconnected. `reauthorize`: only the user can mend it, by connecting again. */
export type ConnectionState = "none" | "connected" | "reauthorize";

/** How the last attempt to connect ended, in the standardized words of docs/api.md. No secret is in it. */
export interface ConnectFailure {
  readonly error: string;
  readonly description: string;
  /** Names the flow in the broker's log. */
  readonly flowId?: string;
  readonly at: EpochSeconds;
}

/** What pages may show. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** Of `reauthorize`, in a word: `credentials_changed`, `refused_by_server`, `invalid_grant`, … */
  readonly reason?: string;
  readonly connectedAt?: EpochSeconds;
  /** As granted, space-separated. */
  readonly scope?: string;
  /** What the server wanted for a call besides that: the user grants it by connecting again. */
  readonly wantedScope?: string;
  readonly failure?: ConnectFailure;
}

export interface OpenConnection {
  readonly tokens: Tokens;
  /**
   * Of these tokens: another one at every authorization and refresh, the same whatever else is
   * noted.
   */
  readonly revision: string;
}

/** Data of a record of kind `connection`; its stage is the state. */
export interface ConnectionData {
  readonly v: 1;
  /** Of the record: another text at every change, expected by the next. */
  readonly revision: string;
  /** Of the tokens. Absent in records of the first release: there it is `revision`. */
  readonly tokensRevision?: string;
  /** Whose client, server and endpoints the tokens are of (recipient.ts). */
  readonly recipient?: string;
  readonly tokens?: JsonObject;
  readonly connectedAt?: EpochSeconds;
  readonly scope?: string;
  readonly wantedScope?: string;
  readonly reason?: string;
  readonly failure?: ConnectFailure;
}
