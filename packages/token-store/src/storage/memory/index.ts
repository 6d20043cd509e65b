/** Records and token rows in this process: for `store: memory` of a broker, and for tests. */
export { memoryRecordStore } from "./record-store.ts";
export { memoryTokenRows } from "./token-rows.ts";
