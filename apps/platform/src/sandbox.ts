/**
 * A table and a key service on this machine, for servers with `enable_db: true`: dynalite and the
 * KMS test server, in this process, in memory. What is in the table ends with the deploy that runs
 * it. The only file that knows the simulators; loaded dynamically.
 */
import { devNull } from "node:os";
import { tableDefinition } from "./deploy/table-definition.ts";

/** @throws Error saying that this needs the repository, when the simulators are not there */
export async function startLocalTable(name: string) {
  const { startDynamoDb, startKms } = await loadSimulators();
  const [engine, kms] = await Promise.all([startDynamoDb(), startKms()]);
  const close = async (): Promise<void> => {
    await Promise.all([engine.close(), kms.close()]);
  };
  try {
    const { region } = engine;
    const keyArn = kms.createKey();
    const definition = tableDefinition({ name, region, account: kms.account, keyArn });
    await engine.createTable(name, definition.createTable);
    return { definition, region, keyArn, sdk: sdkVariables(engine.endpoint, kms.endpoint), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** For the AWS SDK, which looks nowhere else for credentials, and calls these two alone. */
function sdkVariables(dynamodb: string, kms: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    AWS_ENDPOINT_URL_KMS: kms,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
  };
}

/** Left out of the built file. */
async function loadSimulators(): Promise<typeof import("@oauth-broker/simulators/aws")> {
  const name = "@oauth-broker/simulators/aws";
  try {
    return (await import(name)) as typeof import("@oauth-broker/simulators/aws");
  } catch (cause) {
    throw new Error("A table on this machine needs the repository: run `npm run platform` there.", { cause });
  }
}
