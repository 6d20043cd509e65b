/** The whole environment of a deployed server: what its author wrote, what the platform injects, and where tools are. */
import type { ServiceFile } from "../service-file/service-file.ts";
import type { TableMode } from "../table-mode.ts";

export interface ProvisionedTable {
  readonly name: string;
  readonly region: string;
  readonly keyArn: string;
  readonly mode: TableMode;
  /** For the AWS SDK on this machine: endpoints and credentials. None on AWS, where the task has a role. */
  readonly sdk: Readonly<Record<string, string>>;
}

export interface Injected {
  readonly deploymentUrl: string;
  readonly callbackUrl: string;
  readonly port: number;
  readonly table: ProvisionedTable | undefined;
  /** Of the deploying process, as far as programs need it to run. */
  readonly system: Readonly<Record<string, string>>;
}

export function serverEnvironment(
  { environment, mode }: Pick<ServiceFile, "environment" | "mode">,
  { deploymentUrl, callbackUrl, port, table, system }: Injected,
): Readonly<Record<string, string>> {
  return {
    ...system,
    // The ingress connects from this machine, and names the caller.
    TRUSTED_PROXIES: "127.0.0.0/8",
    ...environment,
    ...(mode === "none" ? {} : { OAUTH_MODE: mode }),
    DEPLOYMENT_URL: deploymentUrl,
    PLATFORM_OAUTH_CALLBACK_URL: callbackUrl,
    HOST: "127.0.0.1",
    PORT: String(port),
    ...(table === undefined ? {} : tableVariables(table)),
  };
}

function tableVariables({ name, region, keyArn, mode, sdk }: ProvisionedTable): Record<string, string> {
  return {
    ...sdk,
    DB_TABLE_NAME: name,
    DB_TABLE_REGION: region,
    TOKEN_ENCRYPTION_KMS_KEY_ID: keyArn,
    TOKEN_ENCRYPTION_MODE: mode,
  };
}
