/** Counts of single operations of the stores, each store in a process that does nothing else. */
import { join } from "node:path";
import { awsEnvironment, startEngines } from "../../services.ts";
import { onStage } from "../../stage.ts";
import { startWorker } from "../../worker.ts";
import { COUNTER, type CountTable, type OperationCounts } from "./operation-counts.ts";
import type { Store, StoreCountCalls } from "./store-worker.ts";

/** The stores, in the order of the table. */
const STORES: readonly Store[] = ["memory", "sqlite", "dynamodb"];

/** @throws Error when an operation fails */
export async function countStores(): Promise<CountTable> {
  return onStage(async (stage) => {
    const engines = await startEngines(stage).call("open");
    const folder = stage.folder("stores");
    const table: Record<string, Record<string, OperationCounts>> = {};
    for (const store of STORES) {
      const worker = startWorker<StoreCountCalls>(join(import.meta.dirname, "store-worker.ts"), {
        flags: ["--import", COUNTER],
        env: awsEnvironment(engines),
      });
      stage.add(worker);
      const counted = await worker.call("count", store, { engines, folder });
      for (const [name, counts] of Object.entries(counted)) (table[name] ??= {})[store] = counts;
    }
    return table;
  });
}
