/** A connector as one record. */
import { defined, type JsonObject } from "@oauth-broker/oauth-core";
import type { Connector, ConnectorState, Deployment } from "./connector.ts";
import type { Kept } from "./kept-records.ts";

/** The data of a record of kind `connector`. Its stage is the state of the connector. */
export interface ConnectorData extends Omit<Connector, "id" | "state" | "callback"> {
  readonly v: 1;
  readonly platformToken: JsonObject;
  readonly clientSecret?: JsonObject;
  /** Absent in records of the first release: `shared`. */
  readonly callback?: Connector["callback"];
  readonly deployment?: Deployment;
}

export type KeptConnector = Kept<ConnectorState, ConnectorData>;

export function toConnector({ id, state, data }: KeptConnector): Connector {
  const { name, serverUrl, callback = "shared", withoutServer, settings, createdAt, updatedAt } = data;
  return { id, name, state, ...defined({ serverUrl, withoutServer }), callback, settings, createdAt, updatedAt };
}
