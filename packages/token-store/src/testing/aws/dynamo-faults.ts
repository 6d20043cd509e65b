/**
 * An engine with a fault proxy in front of it, and a table in it: for the tests of DynamoDB
 * failures.
 */
import { startDynamoDb, startFaultProxy } from "@oauth-broker/simulators/aws";
import type { FaultProxy } from "@oauth-broker/simulators/aws";
import type { DynamoDbOptions } from "../../storage/dynamodb/table.ts";

export interface FaultyTable {
  readonly proxy: FaultProxy;
  /** Through the proxy. */
  readonly options: DynamoDbOptions;
  /** Past the proxy. */
  readonly direct: DynamoDbOptions;
  close(): Promise<void>;
}

export async function startFaultyTable(): Promise<FaultyTable> {
  const engine = await startDynamoDb();
  const { endpoint, region } = engine;
  const table = await engine.createTable();
  const proxy = await startFaultProxy({ target: endpoint });
  return {
    proxy,
    options: { table, region, endpoint: proxy.endpoint },
    direct: { table, region, endpoint },
    close: async () => {
      await proxy.close();
      await engine.close();
    },
  };
}

export interface Outcome {
  readonly at: number;
  /** The result of the call, or the code of its error. */
  readonly outcome: string;
}

/** Runs `count` calls, this many of them at once. */
export async function runCalls(
  count: number,
  atOnce: number,
  call: (at: number) => Promise<string>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const at = next;
      next += 1;
      const outcome = await call(at).catch((error: Error & { readonly code?: string }) => error.code ?? error.message);
      outcomes.push({ at, outcome });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcomes;
}

export function tally(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
