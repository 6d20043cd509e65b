/**
 * One of several processes on one store. Started by storage/sqlite/processes.test.ts with the
 * file's path, and by storage/dynamodb/processes.test.ts with its table as JSON; executes each
 * message and answers with the outcome.
 */
import type { ChildProcess } from "node:child_process";
import type { RecordKey, RecordStore } from "@oauth-broker/oauth-core";
import type { DynamoDbOptions } from "../../storage/dynamodb/table.ts";
import { orderAll } from "../processes.ts";

export const RACE_NOW = 1_700_000_000;

export type Order =
  | { readonly what: "open" }
  /** Advances one record over and over until that fails. */
  | { readonly what: "fill"; readonly key: RecordKey }
  /** Makes so many its own records, and moves each on, all at once. */
  | { readonly what: "spend"; readonly round: string; readonly times: number }
  | { readonly what: "create" | "advance"; readonly key: RecordKey; readonly times: number };

/** How many of the calls had which outcome; `error` for one that threw. */
export type Tally = Readonly<Record<string, number>>;

/** Sends all of them the same order, and adds up their tallies. */
export async function orderRacers(racers: readonly ChildProcess[], order: Order): Promise<Tally> {
  const total: Record<string, number> = {};
  for (const tally of await orderAll<Tally>(racers, order)) {
    for (const [outcome, count] of Object.entries(tally)) total[outcome] = (total[outcome] ?? 0) + count;
  }
  return total;
}

/**
 * All use one record at once, round after round.
 *
 * @returns of each round what became of it, and whether the record is one racer's own
 */
export async function race(
  racers: readonly ChildProcess[],
  { store, rounds, times }: { readonly store: RecordStore; readonly rounds: number; readonly times: number },
): Promise<unknown[]> {
  const results: unknown[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const key = { kind: "code", id: `round ${round}` };
    const created = await orderRacers(racers, { what: "create", key, times });
    const advanced = await orderRacers(racers, { what: "advance", key, times });
    const by = (await store.get(key))?.data["by"];
    results.push({ created, advanced, isOwn: racers.some(({ pid }) => `${pid}` === by) });
  }
  await store.close();
  return results;
}

/**
 * Loads the driver of this store only: that is most of a start.
 *
 * @param where the store: a path, or DynamoDbOptions as JSON
 */
async function openStore(where: string): Promise<RecordStore> {
  const now = (): number => RACE_NOW;
  if (!where.startsWith("{")) {
    const { sqliteRecordStore } = await import("../../storage/sqlite/record-store.ts");
    return sqliteRecordStore({ path: where, now });
  }
  const { dynamodbRecordStore } = await import("../../storage/dynamodb/record-store.ts");
  const { PATIENT } = await import("../aws/deadline.ts");
  return dynamodbRecordStore({ ...(JSON.parse(where) as DynamoDbOptions), ...PATIENT, now });
}

if (import.meta.main) {
  const store = await openStore(process.argv[2] ?? "");
  const name = String(process.pid);

  const fill = async (key: RecordKey): Promise<Tally> => {
    for (let moved = 0; ; moved += 1) {
      const from = { stage: "live", expect: { version: `${moved}` } };
      const patch = { stage: "live", set: { version: `${moved + 1}` } };
      const outcome = await store.advance(key, from, patch).then(({ outcome }) => outcome, String);
      if (outcome !== "moved") return { moved, [outcome]: 1 };
    }
  };
  const spend = async (id: string): Promise<string> => {
    const key = { kind: "code", id };
    const created = await store.create({ key, stage: "issued", data: { code: id }, expiresAt: RACE_NOW + 60 });
    if (created !== "created") return created;
    const from = { stage: "issued", expect: { code: id } };
    return (await store.advance(key, from, { stage: "spent", set: { by: name } })).outcome;
  };
  const obey = async (order: Exclude<Order, { what: "fill" }>, at: number): Promise<string> => {
    if (order.what === "open") return store.ping().then(() => "open");
    if (order.what === "spend") return spend(`${order.round} ${name} ${at}`);
    const { key } = order;
    if (order.what === "create") {
      return store.create({ key, stage: "issued", data: { by: name, code: "c1" }, expiresAt: RACE_NOW + 60 });
    }
    const from = { stage: "issued", expect: { code: "c1" } };
    return (await store.advance(key, from, { stage: "spent", set: { by: name } })).outcome;
  };

  const repeat = async (order: Exclude<Order, { what: "fill" }>): Promise<Tally> => {
    const times = order.what === "open" ? 1 : order.times;
    const all = Array.from({ length: times }, (_, at) =>
      obey(order, at).catch((error: unknown) => `error ${String(error)}`),
    );
    const tally: Record<string, number> = {};
    for (const outcome of await Promise.all(all)) tally[outcome] = (tally[outcome] ?? 0) + 1;
    return tally;
  };
  process.on("message", (order: Order) => {
    void (order.what === "fill" ? fill(order.key) : repeat(order)).then((tally) => process.send?.(tally));
  });
  process.send?.({ ready: 1 });
}
