/**
 * A table and a KMS on loopback for the tests of this workspace, with the SDK's variables that
 * point to them.
 */
import { devNull } from "node:os";
import { type DynamoDbEngine, type KmsServer, startDynamoDb, startKms } from "@oauth-broker/simulators/aws";
import { vi } from "vitest";
import type { Config } from "../config.ts";

export interface TestAws {
  readonly engine: DynamoDbEngine;
  readonly kms: KmsServer;
  /** A new table at each call. */
  newStore(): Promise<Extract<Config["store"], { kind: "dynamodb" }>>;
  close(): Promise<void>;
}

/** Sets variables of this process until `close`, because the SDK reads no others. */
export async function startTestAws(): Promise<TestAws> {
  const engine = await startDynamoDb();
  const kms = await startKms();
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_CONFIG_FILE", devNull);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", devNull);
  vi.stubEnv("AWS_ENDPOINT_URL_KMS", kms.endpoint);
  return {
    engine,
    kms,
    newStore: async () => ({
      kind: "dynamodb",
      table: await engine.createTable(),
      region: engine.region,
      endpoint: engine.endpoint,
    }),
    close: async () => {
      vi.unstubAllEnvs();
      await kms.close();
      await engine.close();
    },
  };
}
