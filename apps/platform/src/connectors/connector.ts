/**
 * A connector: what the platform knows of one MCP server its users may connect. The words are those of the specification.
 * Kept by connectors/store.ts, shown and changed on the settings page, moved by the deploy command.
 */
import type { EpochSeconds } from "@oauth-broker/oauth-core";

/** `draft`: made by `deploy init`, or not yet through a connection test. `active`: users may connect. */
export type ConnectorState = "draft" | "active";

/** Who registers the OAuth client, and where. */
export type Registration =
  /** With the vendor beforehand; the platform runs the flow and sends users' vendor tokens. */
  | "pre_registered_client"
  /** The deployed server is the authorization server. */
  | "hosted_server"
  /** Through the broker: shared or brought credentials. */
  | "broker"
  /** The server wants no OAuth. */
  | "none";

/** What an administrator enters on the Settings tab. Empty URLs are discovered; `{placeholder}` is filled from `placeholders`. */
export interface ConnectorSettings {
  readonly authentication: "oauth_2_1" | "none";
  readonly registration: Registration;
  readonly clientId?: string;
  /** Whether one is kept: the value itself never leaves the store. */
  readonly hasClientSecret: boolean;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  /** Space-separated; the most that users are asked for. Absent: what the server or the vendor's entry names. */
  readonly scopes?: string;
  /** A registry vendor, or an issuer, to discover from. */
  readonly vendorOrIssuer?: string;
  readonly placeholders: Readonly<Record<string, string>>;
}

export interface Connector {
  /** Lower case letters, digits and `-`; the `name` of its server's service.yaml. */
  readonly id: string;
  readonly name: string;
  readonly state: ConnectorState;
  /** The MCP endpoint, `…/mcp`, behind the ingress; never another once there is one: it is in the issuer. Absent until the first deploy. */
  readonly serverUrl?: string;
  /**
   * Which redirect URI it has while its server is a hosted one: its own, or the one that all others
   * share. See oauth/redirect-uri.ts.
   */
  readonly callback: "own" | "shared";
  readonly settings: ConnectorSettings;
  readonly createdAt: EpochSeconds;
  readonly updatedAt: EpochSeconds;
}

/** What a deploy changes: never half. */
export interface Deployment {
  readonly connectorId: string;
  readonly mode: "pre-registered" | "hosted" | "none";
  readonly enableDb: boolean;
  /** `service.expose`: paths served without a bearer token. */
  readonly expose: readonly string[];
  /** Where the ingress forwards to. */
  readonly target: { readonly host: string; readonly port: number };
  readonly pid: number;
  readonly deployedAt: EpochSeconds;
}
