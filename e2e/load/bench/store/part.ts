/**
 * The store's part of the bench: what a call of the token store and of the record store costs on
 * DynamoDB beside the requests it cannot do without, and how often KMS is called. The client is
 * this process; the engine behind it has its own.
 */
import { type EngineServers, startEngines } from "../../engines.ts";
import { inLanes, LANES } from "../../lanes.ts";
import { measureCpu } from "../../machine.ts";
import { aimLine } from "../../spread.ts";
import { openOnStage } from "../../stage.ts";
import type { BenchSubject, Comparison, PartOfBench } from "../part.ts";
import { openOperations, type Operation, STORE_LABELS, type StoreSubject } from "./operations.ts";
import { keyOf, openStore, readerName, readUser, TOKEN_LENGTHS } from "./tokens.ts";

/** `put` reads the row it replaces, because its version is part of what is sealed: two requests, both counted. */
export const STORE_COMPARISONS: readonly Comparison[] = (
  [
    ["get", "getItem"],
    ["put", "putItem"],
    ["put", "getItemPutItem"],
    ["create", "putNewItem"],
    ["advance", "updateItem"],
  ] as const
).map(([subject, to]) => ({ subject, to, name: STORE_LABELS[to], limit: 1.25 }));

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
const KMS_LIMIT = 1;

/** @param kmsReads whose calls to KMS are counted, cold and warm */
export async function openStorePart(kmsReads = 10_000): Promise<PartOfBench> {
  return openOnStage(async (stage) => {
    const servers = await startEngines(stage);
    const engines = await servers.open();
    const { operations, rowBytes, close } = await openOperations(engines);
    stage.add({ stop: close });
    const names = Object.keys(STORE_LABELS) as StoreSubject[];
    return {
      about: `store: ${LANES} at once, ${engines.name}, tokens of ${TOKEN_LENGTHS.access} and ${TOKEN_LENGTHS.refresh} characters, ${rowBytes} bytes a row`,
      measured: "the client's process",
      subjects: names.map((name) => subjectOf(name, operations[name])),
      comparisons: STORE_COMPARISONS,
      more: async () => {
        const cold = await countKms(servers, async () => {
          const store = openStore(engines);
          await inLanes(LANES, kmsReads, (_, at) => readUser(store, keyOf(readerName(at))));
          await store.close();
        });
        const warm = await countKms(servers, () => inLanes(LANES, kmsReads, operations.get));
        const kms = { reads: kmsReads, cold, warm };
        return { found: { rowBytes, kms }, lines: [kmsLine(kms)] };
      },
    };
  });
}

function subjectOf(name: StoreSubject, operation: Operation): BenchSubject {
  return {
    name,
    label: STORE_LABELS[name],
    measure: async (count) => {
      // Garbage of earlier work must not be collected here.
      globalThis.gc?.();
      const run = (): Promise<void> => inLanes(LANES, count, operation);
      const { cpuMicroseconds, busy } = await measureCpu([process.pid], count, run);
      return { cpuMicroseconds, busy };
    },
  };
}

async function countKms({ kmsCalls }: EngineServers, read: () => Promise<void>): Promise<number> {
  const before = kmsCalls();
  await read();
  return kmsCalls() - before;
}

export function kmsLine({ reads, cold, warm }: KmsFigures): string {
  const calls = `KMS calls for ${reads} warm reads: ${warm}, from a cold start ${cold}`;
  return aimLine((warm * 10_000) / reads <= KMS_LIMIT, calls, `at most ${KMS_LIMIT} for 10000`);
}
