/**
 * Thousands of uses of single-use objects while every conditional write loses its answer once. Run by
 * storage/dynamodb/lost-answers.test.ts, and by its twin without the attempt id.
 */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { dynamodbRecordStore } from "../storage/dynamodb/record-store.ts";
import type { DynamoDbOptions } from "../storage/dynamodb/table.ts";
import { dynamodbTokenRows } from "../storage/dynamodb/token-rows.ts";
import type { TokenRows } from "../storage/token-rows.ts";
import { runCalls } from "./dynamo-faults.ts";

const NOW = 1_700_000_000;
const RIVALS = 4;

/** Of single-use objects: how many had no winner though nobody else used them, and how many had several. */
export interface Verdicts {
  readonly operations: number;
  readonly falseReplays: number;
  readonly doubleUses: number;
}

/** @param rounds of 14 operations each */
export async function useWhileAnswersAreLost(options: DynamoDbOptions, rounds: number): Promise<Verdicts> {
  const records = dynamodbRecordStore({ ...options, now: () => NOW });
  const rows = dynamodbTokenRows(options);
  const counts = { operations: 0, falseReplays: 0, doubleUses: 0 };
  const judge = (outcomes: readonly string[], won: string): void => {
    const winners = outcomes.filter((outcome) => outcome === won).length;
    counts.operations += outcomes.length;
    if (winners === 0) counts.falseReplays += 1;
    if (winners > 1) counts.doubleUses += 1;
  };
  await runCalls(rounds, 20, async (round) => {
    await useRecord(records, `r${round}`, judge);
    await useRow(rows, `u${round}`, judge);
    return "done";
  });
  await records.close();
  await rows.close();
  return counts;
}

type Judge = (outcomes: readonly string[], won: string) => void;

/** Created by two, moved by four, prolonged by one beyond what it is kept for. */
async function useRecord(store: RecordStore, id: string, judge: Judge): Promise<void> {
  const key = { kind: "code", id };
  const record = { key, stage: "issued", data: { code: "c1" }, expiresAt: NOW + 60 };
  judge(await Promise.all([store.create(record), store.create(record)]), "created");
  const from = { stage: "issued", expect: { code: "c1" } };
  const spend = async (by: number): Promise<string> => {
    const advanced = await store.advance(key, from, { stage: "spent", set: { by: `${by}` } });
    // A winner must be told of its own write, whoever else was there.
    if (advanced.outcome === "moved" && advanced.record.data["by"] !== `${by}`) return "moved by another";
    return advanced.outcome;
  };
  judge(await Promise.all(Array.from({ length: RIVALS }, (_, by) => spend(by))), "moved");
  const prolonged = { stage: "kept", set: {}, expiresAt: NOW + 9999 };
  judge([(await store.advance(key, { stage: "spent", expect: {} }, prolonged)).outcome], "moved");
}

/** Made by two, changed by four, deleted by one. */
async function useRow(rows: TokenRows, user: string, judge: Judge): Promise<void> {
  const key = { pk: `USER#${user}`, sk: "VENDOR#v" };
  const make = (): Promise<string> => rows.change(key, { set: { version: 1 } }, { version: undefined });
  judge(await Promise.all([make(), make()]), "written");
  const commit = (by: number): Promise<string> => rows.change(key, { set: { version: 2, by } }, { version: 1 });
  judge(await Promise.all(Array.from({ length: RIVALS }, (_, by) => commit(by))), "written");
  judge([await rows.delete(key, { version: 2 })], "deleted");
}
