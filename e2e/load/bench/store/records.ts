/** Records of one kind as the bench writes them. */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { RECORD_DATA } from "../../scale/fixture/fill.ts";

const STAGES = ["pushed", "started"] as const;
const EXPIRES_AT = 2 ** 32;

/** Each call throws an Error when the answer is wrong. */
export function recordsOf(store: RecordStore, kind: string) {
  return {
    create: async (id: string): Promise<void> => {
      const record = { key: { kind, id }, stage: STAGES[0], data: RECORD_DATA, expiresAt: EXPIRES_AT };
      if ((await store.create(record)) !== "created") throw new Error("a new record was there before");
    },
    advance: async (id: string, [from, to]: readonly [from: string, to: string]): Promise<void> => {
      const expected = { stage: from, expect: { client: RECORD_DATA.client } };
      const { outcome } = await store.advance({ kind, id }, expected, { stage: to, set: { attempt: to } });
      if (outcome !== "moved") throw new Error(`the record is ${outcome}`);
    },
  };
}

/** From one stage to the other and back, for each lane. */
export function createTurns(): (lane?: number) => readonly [from: string, to: string] {
  const turned = new Set<number>();
  return (lane = 0) => {
    if (turned.delete(lane)) return [STAGES[1], STAGES[0]];
    turned.add(lane);
    return STAGES;
  };
}
