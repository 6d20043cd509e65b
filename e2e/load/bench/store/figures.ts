/**
 * Turns the store's measurements into figures: medians, ratios within a round, and whether the aims
 * are met.
 */
import { aimLine, columns, percent, type Spread, spreadOf, withQuartiles } from "../../spread.ts";
import type { StoreMeasurement } from "./client.ts";
import { STORE_SUBJECTS, type StoreSubject } from "./subjects.ts";

export type StoreRound = Readonly<Record<StoreSubject, StoreMeasurement>>;

export interface Comparison {
  readonly subject: StoreSubject;
  readonly to: StoreSubject;
  /** Median ratio, at most. */
  readonly limit: number;
}

/**
 * `put` reads the row it replaces, because its version is part of what is sealed: two requests,
 * both counted.
 */
export const COMPARISONS: readonly Comparison[] = [
  { subject: "get", to: "getItem", limit: 1.25 },
  { subject: "put", to: "putItem", limit: 1.25 },
  { subject: "put", to: "getItemPutItem", limit: 1.25 },
  { subject: "create", to: "putNewItem", limit: 1.25 },
  { subject: "advance", to: "updateItem", limit: 1.25 },
];

export interface ComparisonResult extends Comparison {
  /** Each round's own. */
  readonly ratio: Spread;
  readonly met: boolean;
}

/** Per operation, in the calling process. */
export type StoreFigures = Readonly<Record<StoreSubject, { readonly cpuMicroseconds: Spread; readonly busy: number }>>;

export interface KmsFigures {
  readonly reads: number;
  /**
   * Calls to KMS for a number of reads of rows under one data key, by a store just opened, and by
   * the same store once more.
   */
  readonly cold: number;
  readonly warm: number;
}

/** Calls for 10,000 warm reads, at most. */
export const KMS_LIMIT = 1;

/** @param rounds at least one */
export function storeFiguresOf(rounds: readonly StoreRound[]): StoreFigures {
  const of = (subject: StoreSubject) => ({
    cpuMicroseconds: spreadOf(rounds.map((round) => round[subject].cpuMicroseconds)),
    busy: spreadOf(rounds.map((round) => round[subject].busy)).median,
  });
  return Object.fromEntries(STORE_SUBJECTS.map((subject) => [subject, of(subject)])) as StoreFigures;
}

/** @param rounds at least one */
export function compareStoreWithAims(rounds: readonly StoreRound[]): ComparisonResult[] {
  return COMPARISONS.map((comparison) => {
    const { subject, to, limit } = comparison;
    const ratio = spreadOf(rounds.map((round) => round[subject].cpuMicroseconds / round[to].cpuMicroseconds));
    return { ...comparison, ratio, met: ratio.median <= limit };
  });
}

export const STORE_LABELS: Readonly<Record<StoreSubject, string>> = {
  getItem: "GetItem, consistent",
  get: "TokenStore.get",
  putItem: "PutItem",
  put: "TokenStore.put",
  getItemPutItem: "GetItem, then PutItem",
  putNewItem: "PutItem of a new item",
  create: "RecordStore.create",
  updateItem: "UpdateItem under a condition",
  advance: "RecordStore.advance",
};

/** One line of progress. */
export function progress(name: string, cpuMicroseconds: number): string {
  return `${name.padEnd(32)} ${cpuMicroseconds.toFixed(0).padStart(6)} µs`;
}

export function storeTable(figures: StoreFigures): string {
  const lines = STORE_SUBJECTS.map((subject) => {
    const { cpuMicroseconds, busy } = figures[subject];
    return `${STORE_LABELS[subject].padEnd(34)}${columns(cpuMicroseconds, 9)}${percent(busy)}`;
  });
  return [`CPU of the client's process, µs         min   median      max    busy`, ...lines].join("\n");
}

export function storeAimLines(comparisons: readonly ComparisonResult[], kms: KmsFigures): string {
  const lines = comparisons.map(({ subject, to, limit, ratio, met }) => {
    const what = `${STORE_LABELS[subject]}: ${withQuartiles(ratio)} × ${STORE_LABELS[to]}`;
    return aimLine(met, what, `at most ${limit}`);
  });
  const met = (kms.warm * 10_000) / kms.reads <= KMS_LIMIT;
  const calls = `KMS calls for ${kms.reads} warm reads: ${kms.warm}, from a cold start ${kms.cold}`;
  return [...lines, aimLine(met, calls, `at most ${KMS_LIMIT} for 10000`)].join("\n");
}
