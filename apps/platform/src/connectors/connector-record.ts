/**
 * A connector as one record. Every change is one conditional write, so that no reader sees half of
 * a change.
 */
import { defined, type JsonObject, type StoredRecord } from "@oauth-broker/oauth-core";
import type { Connector, ConnectorState, Deployment } from "./connector.ts";

export const CONNECTOR = "connector";
export const NEVER = 253_402_300_799;

/** The data of a record of kind `connector`. Its stage is the state of the connector. */
export interface ConnectorData extends Omit<Connector, "id" | "state" | "callback"> {
  readonly v: 1;
  /** A new text at every change; a conditional write compares it. */
  readonly revision: string;
  readonly platformToken: JsonObject;
  readonly clientSecret?: JsonObject;
  /** Absent in records of the first release: `shared`. */
  readonly callback?: Connector["callback"];
  readonly deployment?: Deployment;
}

export interface Kept extends Pick<Connector, "id" | "state"> {
  readonly data: ConnectorData;
}

export function toKept({ key, stage, data }: Pick<StoredRecord, "key" | "stage" | "data">): Kept {
  if (data["v"] !== 1) throw new TypeError("a connector of a later release");
  return { id: key.id, state: stage as ConnectorState, data: data as unknown as ConnectorData };
}

/** The fields of the record are JSON by construction; our types do not express that. */
export function toJsonData(data: ConnectorData): JsonObject {
  return data as unknown as JsonObject;
}

export function toConnector({ id, state, data }: Kept): Connector {
  const { name, serverUrl, callback = "shared", withoutServer, settings, createdAt, updatedAt } = data;
  return { id, name, state, ...defined({ serverUrl, withoutServer }), callback, settings, createdAt, updatedAt };
}
