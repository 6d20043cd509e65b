/**
 * DynamoDB and KMS for the store: dynalite, or a DynamoDB Local that already runs. Also the worker
 * that provides them to a bench.
 */
import { startDynamoDb, startKms } from "@oauth-broker/simulators/aws";
import type { TableAddress } from "../support/aws/environment.ts";
import { answerCalls } from "./worker.ts";

/** The addresses for a client. */
export interface Engines extends TableAddress {
  readonly name: "dynalite" | "DynamoDB Local";
}

// A type, not an interface: it must have an index signature.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type EngineCalls = {
  /** With a new, empty table. */
  readonly open: () => Promise<Engines>;
  /** Calls that KMS has received so far, of all operations. */
  readonly kmsCalls: () => number;
};

/** In this process. */
export async function createEngines(): Promise<{ readonly calls: EngineCalls; stop(): Promise<void> }> {
  const dynamoDb = await startDynamoDb();
  const kms = await startKms();
  const calls: EngineCalls = {
    open: async () => ({
      name: dynamoDb.name,
      region: dynamoDb.region,
      endpoint: dynamoDb.endpoint,
      table: await dynamoDb.createTable(),
      kmsEndpoint: kms.endpoint,
      keyArn: kms.createKey(),
    }),
    kmsCalls: () => Object.values(kms.calls()).reduce((sum, count) => sum + count, 0),
  };
  const stop = async (): Promise<void> => {
    await dynamoDb.close();
    await kms.close();
  };
  return { calls, stop };
}

if (import.meta.main) {
  const { calls, stop } = await createEngines();
  answerCalls(calls, stop);
}
