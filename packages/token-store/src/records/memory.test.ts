import { describeRecordStore } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "./memory.ts";

describeRecordStore("memory", async (now) => {
  const store = memoryRecordStore({ now });
  return { store, dispose: () => store.close() };
});
