/** A store with one defence taken away, for tests that the simulator finds it. */
import type { Weaken } from "../world/store.ts";

/** Every write succeeds, in any stage and with any fields: nothing is used once. */
export const withoutConditions: Weaken = (store) => ({
  ...store,
  advance: async (key, _from, patch) => {
    const record = await store.get(key);
    if (record === undefined) return { outcome: "absent" };
    if (record.stage === patch.stage) return { outcome: "moved", record };
    return store.advance(key, { stage: record.stage, expect: {} }, patch);
  },
});
