/** A table with a fault proxy in front of it: for the tests of DynamoDB failures. */
import { type FaultProxy, startFaultProxy } from "@oauth-broker/simulators/aws";
import { afterEach, beforeEach } from "vitest";
import type { DynamoDbOptions } from "../../storage/dynamodb/table.ts";
import { dynamoEngine } from "./dynamo-engine.ts";

/** Another one for each test of the file that calls it. */
export function faultyTable(): { readonly proxy: FaultProxy; readonly options: DynamoDbOptions } {
  const dynamo = dynamoEngine();
  let proxy: FaultProxy;
  let table: string;
  beforeEach(async () => {
    const { engine } = dynamo;
    [table, proxy] = await Promise.all([engine.createTable(), startFaultProxy({ target: engine.endpoint })]);
  });
  afterEach(() => proxy.close());
  return {
    get proxy() {
      return proxy;
    },
    get options() {
      return { table, region: dynamo.engine.region, endpoint: proxy.endpoint };
    },
  };
}

export interface Outcome {
  readonly at: number;
  /** The result of the call, or the code of its error. */
  readonly outcome: string;
}

/** Runs that many calls, some of them at once. */
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
