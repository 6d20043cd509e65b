/**
 * DynamoDB and KMS for a run: the engine has its own process, because its processor time would be in
 * the figures of this one; KMS, which is seldom called, is here. Also the program of that process.
 */
import { startDynamoDb, startKms } from "@oauth-broker/simulators/aws";
import { awsEnvironment, type TableAddress } from "../support/aws/environment.ts";
import type { Stage } from "./stage.ts";

/** The addresses for a client. */
export interface Engines extends TableAddress {
  readonly name: "dynalite" | "DynamoDB Local";
}

/**
 * dynalite, or the engine at DYNAMODB_LOCAL_ENDPOINT. This process is a client of both, too.
 *
 * @param where dynalite runs: `here`, in this process, if processor time is not measured
 */
export async function startEngines(stage: Stage, where: "beside" | "here" = "beside") {
  const local = process.env["DYNAMODB_LOCAL_ENDPOINT"];
  const engine = { name: "engine", file: import.meta.filename };
  const dynamoDb =
    local === undefined && where === "beside"
      ? await startDynamoDb({ sharedEndpoint: (await stage.startBehind(engine)).url })
      : stage.addBehind(await startDynamoDb());
  const kms = stage.addBehind(await startKms());
  stage.setVariables(awsEnvironment({ kmsEndpoint: kms.endpoint }));
  return {
    /** With a new, empty table, and a new key. */
    open: async (): Promise<Engines> => ({
      name: local === undefined ? "dynalite" : "DynamoDB Local",
      region: dynamoDb.region,
      endpoint: dynamoDb.endpoint,
      table: await dynamoDb.createTable(),
      kmsEndpoint: kms.endpoint,
      keyArn: kms.createKey(),
    }),
    /** Calls that KMS has received so far, of all operations. */
    kmsCalls: () => Object.values(kms.calls()).reduce((sum, count) => sum + count, 0),
  };
}

if (import.meta.main) {
  const { endpoint: url } = await startDynamoDb();
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
