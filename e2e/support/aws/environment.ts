/** Variables for processes on the AWS engines of a test, without the AWS settings of this machine. */
import { devNull } from "node:os";

/** @param kmsEndpoint of the engine */
export function awsEnvironment({ kmsEndpoint }: { readonly kmsEndpoint: string }): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_ENDPOINT_URL_KMS: kmsEndpoint,
  };
}

export type TableAddress = Readonly<Record<"table" | "region" | "endpoint" | "kmsEndpoint" | "keyArn", string>>;

/** For a hosted server on a table. */
export function tableEnvironment(at: TableAddress): Readonly<Record<string, string>> {
  return {
    ...awsEnvironment(at),
    DB_TABLE_NAME: at.table,
    DB_TABLE_REGION: at.region,
    TOKEN_ENCRYPTION_KMS_KEY_ID: at.keyArn,
    TOKEN_ENCRYPTION_MODE: "encrypted",
    AWS_ENDPOINT_URL_DYNAMODB: at.endpoint,
  };
}
