/**
 * The table of a server with `enable_db: true`: the mode in which it is read and written, and the
 * settings the server needs for it. A new table starts `encrypted`. An existing table keeps its
 * mode until its author sets `encrypted`, once `token-store audit` finds no plaintext-only rows.
 */
import { OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import { NEVER } from "../connectors/kept-records.ts";
import type { Storage } from "../storage.ts";
import type { ServiceFile } from "./service-file/service-file.ts";

export type TableMode = "bridge" | "encrypted";

export type Table = Awaited<ReturnType<typeof provideTable>>;

/**
 * Prepares the table.
 *
 * @throws OAuthError for a mode the table cannot have, Error when this machine cannot provide a
 *   table
 */
export async function provideTable(
  { name, environment }: Pick<ServiceFile, "name" | "environment">,
  { records }: Pick<Storage, "records">,
) {
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
 * @throws OAuthError invalid_request for a change back to `bridge`
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
    "TOKEN_ENCRYPTION_MODE in service.yaml is bridge, but this table is encrypted. Remove the setting",
  );
}

/** Called once the table exists and the deploy with it has succeeded. */
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
