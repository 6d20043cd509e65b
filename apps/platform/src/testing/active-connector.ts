/** A connector as a deploy leaves it: active, with the address of a server that is not running. */
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import type { Connector, NewConnector, SettingsChange } from "../connectors/connector.ts";
import type { ConnectorStore } from "../connectors/store-on-records.ts";

export async function activeConnector(
  connector: NewConnector & { readonly settings: SettingsChange },
  serverUrl: string,
  { connectors, deployedAt }: { readonly connectors: ConnectorStore; readonly deployedAt: EpochSeconds },
): Promise<Connector> {
  await connectors.create(connector);
  await connectors.claimServerUrl(connector.id, serverUrl);
  const mode = connector.settings.registration === "hosted_server" ? "hosted" : "pre-registered";
  const target = { host: "127.0.0.1", port: Number(new URL(serverUrl).port) };
  const deployment = {
    connectorId: connector.id,
    mode,
    enableDb: false,
    expose: [],
    target,
    pid: 0,
    deployedAt,
  } as const;
  return connectors.recordDeployment(deployment, "active", serverUrl);
}
