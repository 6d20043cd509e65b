/**
 * A table and a KMS key on loopback for brokers under test, with a proxy for faults in front of the
 * table.
 */
import {
  type DynamoDbEngine,
  type FaultProxy,
  type KmsServer,
  startDynamoDb,
  startFaultProxy,
  startKms,
} from "@oauth-broker/simulators/aws";
import { findSecrets, plantedCount } from "../secrets.ts";
import { awsEnvironment, tableEnvironment } from "./environment.ts";

export interface AwsHarness {
  readonly engine: DynamoDbEngine;
  readonly kms: KmsServer;
  readonly keyArn: string;
  readonly table: string;
  /** Between the brokers and the table; transparent until a test sets a fault. */
  readonly proxy: FaultProxy;
  /** As in broker.yaml. */
  readonly store: string;
  readonly keys: string;
  /** A `store` value for its own table: a keyset belongs to one base_url. */
  newStore(): Promise<string>;
  /** The environment a broker needs, without the AWS settings of this machine. */
  readonly env: Readonly<Record<string, string>>;
  /** The environment of a hosted server on the table. */
  readonly tableEnv: Readonly<Record<string, string>>;
  /**
   * Planted secrets found in the table in any spelling, and the number of items and secrets
   * searched. The platform's own `state` may be there until the browser is back
   * (docs/storage-schema.md); later it counts as found.
   */
  scan(): Promise<{ readonly found: readonly string[]; readonly items: number; readonly secrets: number }>;
  close(): Promise<void>;
}

export async function startAws(): Promise<AwsHarness> {
  const engine = await startDynamoDb();
  const kms = await startKms();
  const proxy = await startFaultProxy({ target: engine.endpoint });
  const table = await engine.createTable();
  const keyArn = kms.createKey();
  const storeOn = (name: string): string => `dynamodb:${name}?region=${engine.region}&endpoint=${proxy.endpoint}`;
  return {
    engine,
    kms,
    keyArn,
    table,
    proxy,
    store: storeOn(table),
    newStore: async () => storeOn(await engine.createTable()),
    keys: `kms:${keyArn}`,
    env: awsEnvironment({ kmsEndpoint: kms.endpoint }),
    tableEnv: tableEnvironment({
      table,
      keyArn,
      region: engine.region,
      endpoint: proxy.endpoint,
      kmsEndpoint: kms.endpoint,
    }),
    scan: async () => {
      const items = await engine.items(table);
      const found = items.flatMap((item) =>
        findSecrets(JSON.stringify(item)).filter((what) => what !== "state" || !isBeforeCallback(item)),
      );
      return { found, items: items.length, secrets: plantedCount() };
    },
    close: async () => {
      await proxy.close();
      await kms.close();
      await engine.close();
    },
  };
}

function isBeforeCallback({ stage }: Readonly<Record<string, unknown>>): boolean {
  return ["pushed", "started"].some((name) => JSON.stringify(stage) === `{"S":"${name}"}`);
}
