/** The table of a server with `enable_db: true`, ready, with what the server must be told of it. */
import type { Storage } from "../storage.ts";
import type { ProvisionedTable } from "./server-process/environment.ts";
import type { ServiceFile } from "./service-file/service-file.ts";
import { tableMode } from "./table-mode.ts";

export interface Table extends ProvisionedTable {
  close(): Promise<void>;
}

/** @throws OAuthError for a mode the table cannot have, Error where there is no table to be had on this machine */
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
