/**
 * What the parts of the RecordStore contract share: one record, and a store that lives for one
 * test.
 */
import type { NewRecord, RecordStore } from "../../ports.ts";
import type { fixedClock } from "../fixed-clock.ts";

export const NOW = 1_700_000_000;
export const KEY = { kind: "flow", id: "f1" };
export const RECORD: NewRecord = {
  key: KEY,
  stage: "pushed",
  data: { client: "platform", code: "c1", count: 1, nested: { a: 1, b: 2 }, list: ["x"] },
  expiresAt: NOW + 600,
};
export const FROM = { stage: "pushed", expect: { client: "platform", code: "c1" } };

/** Runs one test on an empty store at NOW, and disposes of it. */
export type WithStore = (
  test: (store: RecordStore, clock: ReturnType<typeof fixedClock>) => Promise<void>,
) => Promise<void>;
