/**
 * Thousands of uses of single-use objects while every conditional write loses its answer once. Run
 * by storage/dynamodb/lost-answers.test.ts, and by its twin without the attempt id.
 */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { dynamodbRecordStore } from "../../storage/dynamodb/record-store.ts";
import type { DynamoDbOptions } from "../../storage/dynamodb/table.ts";
import { dynamodbTokenRows } from "../../storage/dynamodb/token-rows.ts";
import type { TokenRows } from "../../storage/token-rows.ts";
import { PATIENT } from "./deadline.ts";
import { runCalls } from "./dynamo-faults.ts";

const NOW = 1_700_000_000;
const RIVALS = 4;
const GENEROUS = { maxAttempts: 20, ...PATIENT };

/**
 * Uses of single-use objects: how many had no winner although they were used once, and how many
 * had several.
 */
export interface UseCounts {
  readonly operations: number;
  readonly falseReplays: number;
  readonly doubleUses: number;
}

/** @param rounds of 14 operations each */
export async function useWhileAnswersAreLost(options: DynamoDbOptions, rounds: number): Promise<UseCounts> {
  const records = dynamodbRecordStore({ ...options, ...GENEROUS, now: () => NOW });
  const rows = dynamodbTokenRows({ ...options, ...GENEROUS });
  const counts = { operations: 0, falseReplays: 0, doubleUses: 0 };
  const countUse = (outcomes: readonly string[], won: string): void => {
    const winners = outcomes.filter((outcome) => outcome === won).length;
    counts.operations += outcomes.length;
    if (winners === 0) counts.falseReplays += 1;
    if (winners > 1) counts.doubleUses += 1;
  };
  await runCalls(rounds, 20, async (round) => {
    await useRecord(records, `r${round}`, countUse);
    await useRow(rows, `u${round}`, countUse);
    return "done";
  });
  await records.close();
  await rows.close();
  return counts;
}

type CountUse = (outcomes: readonly string[], won: string) => void;

/** Created by two, moved by four, prolonged by one beyond its `keepUntil`. */
async function useRecord(store: RecordStore, id: string, countUse: CountUse): Promise<void> {
  const key = { kind: "code", id };
  const record = { key, stage: "issued", data: { code: "c1" }, expiresAt: NOW + 60 };
  countUse(await Promise.all([store.create(record), store.create(record)]), "created");
  const from = { stage: "issued", expect: { code: "c1" } };
  const spend = async (by: number): Promise<string> => {
    const advanced = await store.advance(key, from, { stage: "spent", set: { by: `${by}` } });
    // A winner must get the result of its write, regardless of the others.
    if (advanced.outcome === "moved" && advanced.record.data["by"] !== `${by}`) return "moved by another";
    return advanced.outcome;
  };
  countUse(await Promise.all(Array.from({ length: RIVALS }, (_, by) => spend(by))), "moved");
  const prolonged = { stage: "kept", set: {}, expiresAt: NOW + 9999 };
  countUse([(await store.advance(key, { stage: "spent", expect: {} }, prolonged)).outcome], "moved");
}

/** Made by two, changed by four, deleted by one. */
async function useRow(rows: TokenRows, user: string, countUse: CountUse): Promise<void> {
  const key = { pk: `USER#${user}`, sk: "VENDOR#v" };
  const make = (): Promise<string> => rows.change(key, { set: { version: 1 } }, { version: undefined });
  countUse(await Promise.all([make(), make()]), "written");
  const commit = (by: number): Promise<string> => rows.change(key, { set: { version: 2, by } }, { version: 1 });
  countUse(await Promise.all(Array.from({ length: RIVALS }, (_, by) => commit(by))), "written");
  countUse([await rows.delete(key, { version: 2 })], "deleted");
}
