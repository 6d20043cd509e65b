/**
 * Stores connectors with their secrets and deployments: in one folder, with secrets sealed under its
 * key file. Users' connections are in oauth/connections.ts.
 */
import type { Secret } from "@oauth-broker/oauth-core";
import type { Connector, ConnectorSettings, Deployment, WithoutServer } from "./connector.ts";

/**
 * Input for settings: a secret goes in and never comes out to a page. An empty text counts as
 * absent.
 */
export type SettingsChange = Partial<Omit<ConnectorSettings, "hasClientSecret">> & {
  /** Absent keeps the stored value; null deletes it. */
  readonly clientSecret?: Secret | null;
};

export interface NewConnector extends Pick<Connector, "id" | "name"> {
  readonly settings?: SettingsChange;
  /** Default `own`. */
  readonly callback?: Connector["callback"];
  readonly withoutServer?: WithoutServer;
}

export interface ConnectorStore {
  list(): Promise<readonly Connector[]>;
  find(id: string): Promise<Connector | undefined>;
  /**
   * @throws OAuthError invalid_request for a name that is taken or malformed, and for settings as
   *   `changeSettings`
   */
  create(connector: NewConnector): Promise<Connector>;
  /**
   * One conditional write.
   * @throws OAuthError invalid_request for settings that contradict each other
   */
  changeSettings(id: string, change: SettingsChange): Promise<Connector>;
  /** Users of a hosted server have to connect again then, because its client changes. */
  changeCallback(id: string, callback: Connector["callback"]): Promise<Connector>;
  clientSecret(id: string): Promise<Secret | undefined>;
  /**
   * The platform's own bearer token, for servers without OAuth: the ingress checks it, and no
   * server sees it.
   */
  platformToken(id: string): Promise<Secret>;
  /**
   * Fixes the address of the server before anything is started there.
   *
   * @returns the address in force: that of the first deploy, even if another is offered later
   */
  claimServerUrl(id: string, serverUrl: string): Promise<string>;
  /** Writes deployment and state together. An active connector stays active. */
  recordDeployment(deployment: Deployment, state: Connector["state"], serverUrl: string): Promise<Connector>;
  deployment(id: string): Promise<Deployment | undefined>;
  close(): Promise<void>;
}
