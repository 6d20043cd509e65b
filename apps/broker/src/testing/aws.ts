/**
 * A table and a KMS on loopback for the tests of this workspace, with the SDK's variables that
 * point to them.
 */
import { devNull } from "node:os";
import { type DynamoDbEngine, type KmsServer, startDynamoDb, startKms } from "@oauth-broker/simulators/aws";
import { afterAll, beforeAll, vi } from "vitest";
import type { Config } from "../config.ts";
import { load, MINIMAL } from "../config/testing/config-file.ts";

type TableStore = Extract<Config["store"], { kind: "dynamodb" }>;

/** For the tests of the describe that calls it; until its end variables of this process are set: the SDK reads no others. */
export function testAws() {
  let engine: DynamoDbEngine;
  let kms: KmsServer;
  beforeAll(async () => {
    engine = await startDynamoDb();
    kms = await startKms();
    vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    vi.stubEnv("AWS_CONFIG_FILE", devNull);
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", devNull);
    vi.stubEnv("AWS_ENDPOINT_URL_KMS", kms.endpoint);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await kms.close();
    await engine.close();
  });
  return {
    get engine() {
      return engine;
    },
    get kms() {
      return kms;
    },
    /** A new table at each call. */
    newStore: async (): Promise<TableStore> => ({
      kind: "dynamodb",
      table: await engine.createTable(),
      region: engine.region,
      endpoint: engine.endpoint,
    }),
    configOf: ({ table, region, endpoint }: TableStore, keyArn = kms.createKey()): Config =>
      load({ ...MINIMAL, store: `dynamodb:${table}?region=${region}&endpoint=${endpoint}`, keys: `kms:${keyArn}` }),
  };
}
