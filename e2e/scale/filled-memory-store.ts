/** Replaces the memory store for filled-memory.ts: the same store, with records in it. */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { memoryRecordStore as emptyStore } from "@oauth-broker/token-store/memory";
import { fill } from "./fill.ts";

const count = Number(new URL(import.meta.url).searchParams.get("records"));

export function memoryRecordStore(deps: Parameters<typeof emptyStore>[0]): RecordStore {
  const store = emptyStore(deps);
  // Done before the process listens: this store waits for nothing, so its promises settle at once.
  void fill(store, count, deps.now());
  return store;
}
