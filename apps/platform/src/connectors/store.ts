/** Where connectors, their secrets, deployments and users' connections are kept: one folder, secrets sealed under its key file. */
import type { Secret } from "@oauth-broker/oauth-core";
import type { Connector, ConnectorSettings, Deployment } from "./connector.ts";

/** What settings are written with: a secret goes in and never comes out to a page. */
export type SettingsChange = Partial<Omit<ConnectorSettings, "hasClientSecret">> & {
  /** Absent keeps what is there; null forgets it. */
  readonly clientSecret?: Secret | null;
};

export interface ConnectorStore {
  list(): Promise<readonly Connector[]>;
  find(id: string): Promise<Connector | undefined>;
  /** @throws OAuthError invalid_request for a name that is taken or malformed */
  create(connector: Pick<Connector, "id" | "name">): Promise<Connector>;
  /** One conditional write. @throws OAuthError invalid_request for settings that contradict each other */
  changeSettings(id: string, change: SettingsChange): Promise<Connector>;
  clientSecret(id: string): Promise<Secret | undefined>;
  /** Writes deployment and state together. */
  recordDeployment(deployment: Deployment, state: Connector["state"], serverUrl: string): Promise<Connector>;
  deployment(id: string): Promise<Deployment | undefined>;
  close(): Promise<void>;
}
