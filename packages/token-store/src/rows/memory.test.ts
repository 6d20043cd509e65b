import { describeTokenRows } from "../testing/token-rows-contract.ts";
import { memoryTokenRows } from "./memory.ts";

describeTokenRows("memory", async () => {
  const rows = memoryTokenRows();
  return { rows, dispose: () => rows.close() };
});
