/** Where connectors, their secrets, deployments and users' connections are kept: one folder, secrets sealed under its key file. */
import type { Secret } from "@oauth-broker/oauth-core";
import type { Connector, ConnectorSettings, Deployment } from "./connector.ts";

/** What settings are written with: a secret goes in and never comes out to a page. An empty text is an absent one. */
export type SettingsChange = Partial<Omit<ConnectorSettings, "hasClientSecret">> & {
  /** Absent keeps what is there; null forgets it. */
  readonly clientSecret?: Secret | null;
};

export interface NewConnector extends Pick<Connector, "id" | "name"> {
  readonly settings?: SettingsChange;
  /** Default `own`. */
  readonly callback?: Connector["callback"];
}

export interface ConnectorStore {
  list(): Promise<readonly Connector[]>;
  find(id: string): Promise<Connector | undefined>;
  /** @throws OAuthError invalid_request for a name that is taken or malformed, and settings as `changeSettings` */
  create(connector: NewConnector): Promise<Connector>;
  /** One conditional write. @throws OAuthError invalid_request for settings that contradict each other */
  changeSettings(id: string, change: SettingsChange): Promise<Connector>;
  /** Users of a hosted server connect again then: its client is another. */
  changeCallback(id: string, callback: Connector["callback"]): Promise<Connector>;
  clientSecret(id: string): Promise<Secret | undefined>;
  /** The bearer token of the platform itself, for servers that want no OAuth: the ingress takes it, and no server sees it. */
  platformToken(id: string): Promise<Secret>;
  /**
   * Fixes where the server is reached, before anything is started there.
   *
   * @returns the one that stands: that of the first deploy, whatever is offered later
   */
  claimServerUrl(id: string, serverUrl: string): Promise<string>;
  /** Writes deployment and state together. An active connector stays active. */
  recordDeployment(deployment: Deployment, state: Connector["state"], serverUrl: string): Promise<Connector>;
  deployment(id: string): Promise<Deployment | undefined>;
  close(): Promise<void>;
}
