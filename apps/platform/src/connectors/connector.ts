/**
 * A connector: what the platform stores about one MCP server that its users may connect.
 * store-on-records.ts stores it, the settings page shows and changes it, the deploy command changes
 * its state.
 */
import type { EpochSeconds, Secret } from "@oauth-broker/oauth-core";

/**
 * `draft`: created by `deploy init`, or it has not passed a connection test. `active`: users may
 * connect.
 */
export type ConnectorState = "draft" | "active";

/** Who registers the OAuth client, and where. */
export type Registration =
  /**
   * Registered with the vendor already; the platform runs the flow and sends users' vendor
   * tokens.
   */
  | "pre_registered_client"
  /** The deployed server is the authorization server. */
  | "hosted_server"
  /** Through the broker, with its shared credentials or the connector's own. */
  | "broker"
  /** The server requires no OAuth. */
  | "none";

/**
 * The fields of the Settings tab. An empty URL is discovered; `{placeholder}` is filled from
 * `placeholders`.
 */
export interface ConnectorSettings {
  readonly authentication: "oauth_2_1" | "none";
  readonly registration: Registration;
  readonly clientId?: string;
  /** Whether a secret is stored; the secret itself never leaves the store. */
  readonly hasClientSecret: boolean;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  /**
   * Space-separated; the most that users are asked for. Absent: what the server or the vendor's
   * entry names.
   */
  readonly scopes?: string;
  /** A registry vendor, or an issuer, to discover from. */
  readonly vendorOrIssuer?: string;
  readonly placeholders: Readonly<Record<string, string>>;
}

/**
 * Input for settings: a secret goes in and never comes out to a page. An empty text counts as
 * absent.
 */
export type SettingsChange = Partial<Omit<ConnectorSettings, "hasClientSecret">> & {
  /** Absent keeps the stored value; null deletes it. */
  readonly clientSecret?: Secret | null;
};

/** A placeholder of the vendor that each user fills in: their tenant, their environment. */
export interface AskedPlaceholder {
  readonly name: string;
  readonly label: string;
  /** Offered, and taken for an input that is left empty. */
  readonly value: string;
  /** Absent: any text. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

/** A connector to a vendor alone: no MCP server, users connect and see what their tokens are. */
export interface WithoutServer {
  /** One line about the vendor. */
  readonly about: string;
  readonly asked: readonly AskedPlaceholder[];
  /** Of each authorization request. */
  readonly request: { readonly prompt?: string; readonly resource?: string };
}

export interface Connector {
  /** Lower case letters, digits and `-`; the `name` in the server's service.yaml. */
  readonly id: string;
  readonly name: string;
  readonly state: ConnectorState;
  /**
   * The MCP endpoint, `…/mcp`, behind the ingress. Absent until the first deploy; afterwards it
   * never changes, because the issuer contains it.
   */
  readonly serverUrl?: string;
  /**
   * The redirect URI the connector uses while its server is a hosted one: its own, or the one that
   * all other connectors share. See oauth/redirect-uri.ts.
   */
  readonly callback: "own" | "shared";
  /** Present: has no server, and is active from its creation. */
  readonly withoutServer?: WithoutServer;
  readonly settings: ConnectorSettings;
  readonly createdAt: EpochSeconds;
  readonly updatedAt: EpochSeconds;
}

export interface NewConnector extends Pick<Connector, "id" | "name"> {
  readonly settings?: SettingsChange;
  /** Default `own`. */
  readonly callback?: Connector["callback"];
  readonly withoutServer?: WithoutServer;
}

/** What a deploy changes, in one write. */
export interface Deployment {
  readonly connectorId: string;
  readonly mode: "pre-registered" | "hosted" | "none";
  readonly enableDb: boolean;
  /** `service.expose`: paths served without a bearer token. */
  readonly expose: readonly string[];
  /** The address the ingress forwards to. */
  readonly target: { readonly host: string; readonly port: number };
  readonly pid: number;
  readonly deployedAt: EpochSeconds;
}
