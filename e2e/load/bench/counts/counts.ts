/**
 * What one flow, one refresh, one call of /mcp and one operation of a store do, in counts that are
 * the same on every machine: hashes, JSON, buffers, promises, bytes of log.
 */
import { join } from "node:path";
import { startEngines } from "../../services.ts";
import { awsEnvironment } from "../../../support/aws/environment.ts";
import { onStage } from "../../stage.ts";
import { startWorker } from "../../worker.ts";
import { serveBrokers } from "../broker/part.ts";
import { serveMcp } from "../mcp/part.ts";
import { countServed } from "../served.ts";
import { COUNTER, type CountTable, type OperationCounts } from "./operation-counts.ts";
import type { Store, StoreCountCalls } from "./store-worker.ts";

/** By part of the bench. Each throws an Error when an answer is wrong. */
export const COUNTS = {
  broker: () => countServed(serveBrokers, (work) => work),
  store: countStores,
  mcp: () => countServed(serveMcp, (work) => (work === "token" ? "/mcp" : undefined)),
} as const;
export type CountedPart = keyof typeof COUNTS;

/** The stores, in the order of the table. */
const STORES: readonly Store[] = ["memory", "sqlite", "dynamodb"];

/** Each store in a process that does nothing else. @throws Error when an operation fails */
async function countStores(): Promise<CountTable> {
  return onStage(async (stage) => {
    const engines = await startEngines(stage).call("open");
    const folder = stage.folder("stores");
    const table: Record<string, Record<string, OperationCounts>> = {};
    for (const store of STORES) {
      const file = join(import.meta.dirname, "store-worker.ts");
      const options = { flags: ["--import", COUNTER], env: awsEnvironment(engines) };
      const worker = stage.add(startWorker<StoreCountCalls>(file, options));
      const counted = await worker.call("count", store, { engines, folder });
      for (const [name, counts] of Object.entries(counted)) (table[name] ??= {})[store] = counts;
    }
    return table;
  });
}

/** A line per subject and operation. */
export function countLines(table: CountTable): string {
  const rows = Object.entries(table).flatMap(([work, subjects]) =>
    Object.entries(subjects).map(([subject, counts]) => {
      const { hashes, recordMacs, json, bufferFrom, promises, logBytes } = counts;
      return [`${work}, ${subject}`, hashes, recordMacs, json, bufferFrom, promises, logBytes].join(" | ");
    }),
  );
  return [
    "| per operation | hashes | record MACs | JSON | Buffer.from | promises | bytes of log |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}
