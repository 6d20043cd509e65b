/**
 * A table and a KMS key on loopback for brokers under test, with a proxy for faults in front of the
 * table.
 */
import { startDynamoDb, startFaultProxy, startKms } from "@oauth-broker/simulators/aws";
import { findSecrets, plantedCount } from "../secrets.ts";
import { awsEnvironment, tableEnvironment } from "./environment.ts";

export type AwsHarness = Awaited<ReturnType<typeof startAws>>;
/** @param onRequest of the table */
export async function startAws(onRequest?: Parameters<typeof startFaultProxy>[0]["onRequest"]) {
  const engine = await startDynamoDb();
  const kms = await startKms();
  const proxy = await startFaultProxy({ target: engine.endpoint, ...(onRequest && { onRequest }) });
  const table = await engine.createTable();
  const keyArn = kms.createKey();
  const { endpoint: kmsEndpoint } = kms;
  const storeOn = (name: string): string => `dynamodb:${name}?region=${engine.region}&endpoint=${proxy.endpoint}`;
  return {
    engine,
    kms,
    keyArn,
    table,
    /** Between the brokers and the table; transparent until a test sets a fault. */
    proxy,
    /** As in broker.yaml. */
    store: storeOn(table),
    /** A `store` value for its own table: a keyset belongs to one base_url. */
    newStore: async () => storeOn(await engine.createTable()),
    keys: `kms:${keyArn}`,
    /** The environment a broker needs, without the AWS settings of this machine. */
    env: awsEnvironment({ kmsEndpoint }),
    /** The environment of a hosted server on the table. */
    tableEnv: tableEnvironment({ table, keyArn, region: engine.region, endpoint: proxy.endpoint, kmsEndpoint }),
    /**
     * Planted secrets found in the table in any spelling, and the number of items and secrets
     * searched. The platform's own `state` may be there until the browser is back
     * (docs/storage-schema.md); later it counts as found.
     */
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
