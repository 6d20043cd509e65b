/**
 * The table of a server with `enable_db: true`: in which mode it is read and written, and what the
 * server must be told of it. A new table starts `encrypted`; one that there was before keeps its
 * mode, until its author sets `encrypted` once `token-store audit` counts no plaintext-only rows.
 */
import { OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import { NEVER } from "../connectors/connector-record.ts";
import type { Storage } from "../storage.ts";
import type { ServiceFile } from "./service-file/service-file.ts";

export type TableMode = "bridge" | "encrypted";

export interface ProvisionedTable {
  readonly name: string;
  readonly region: string;
  readonly keyArn: string;
  readonly mode: TableMode;
  /**
   * For the AWS SDK on this machine: endpoints and credentials. None on AWS, where the task has a
   * role.
   */
  readonly sdk: Readonly<Record<string, string>>;
}

export interface Table extends ProvisionedTable {
  close(): Promise<void>;
}

/**
 * The table, ready.
 *
 * @throws OAuthError for a mode the table cannot have, Error where there is no table to be had on
 *   this machine
 */
export async function provideTable(
  { name, environment }: Pick<ServiceFile, "name" | "environment">,
  { records }: Pick<Storage, "records">,
): Promise<Table> {
  const mode = await tableMode(name, environment["TOKEN_ENCRYPTION_MODE"], { records });
  const { startLocalTable } = await import("../sandbox.ts");
  const tableName = `${name}-tokens`;
  const { region, keyArn, sdk, close } = await startLocalTable(tableName);
  return { name: tableName, region, keyArn, mode, sdk, close };
}

const STAGE = "provisioned";
const keyOf = (connectorId: string) => ({ kind: "table", id: connectorId });

/**
 * @param asked TOKEN_ENCRYPTION_MODE of service.yaml
 * @throws OAuthError invalid_request for a way back to `bridge`
 */
export async function tableMode(
  connectorId: string,
  asked: string | undefined,
  { records }: { readonly records: RecordStore },
): Promise<TableMode> {
  const known = (await records.get(keyOf(connectorId)))?.data["mode"];
  const mode = asked ?? known ?? "encrypted";
  if (mode === "encrypted") return mode;
  if (known === "bridge") return "bridge";
  throw new OAuthError(
    "invalid_request",
    "TOKEN_ENCRYPTION_MODE in service.yaml is bridge, and this table is encrypted: leave it out",
  );
}

/** Once the table is there and the deploy with it has come through. */
export async function keepTableMode(
  connectorId: string,
  mode: TableMode,
  { records }: { readonly records: RecordStore },
): Promise<void> {
  const key = keyOf(connectorId);
  const data = { v: 1, mode };
  if ((await records.create({ key, stage: STAGE, data, expiresAt: NEVER })) === "created") return;
  if (mode === "encrypted")
    await records.advance(key, { stage: STAGE, expect: { mode: "bridge" } }, { stage: STAGE, set: data });
}
