/**
 * The store's part of the bench: what a call of the token store and of the record store costs on
 * DynamoDB beside the requests it cannot do without, and how often KMS is called. The client is
 * this process; the engine behind it has its own.
 */
import { startEngines } from "../../engines.ts";
import { inLanes, LANES } from "../../lanes.ts";
import { measureCpu } from "../../machine.ts";
import { aimText } from "../../report.ts";
import type { Rounds } from "../../rounds.ts";
import { onStage } from "../../stage.ts";
import { measurePart } from "../part.ts";
import { openOperations } from "./operations.ts";
import { keyOf, openStore, readerName, readUser, TOKEN_LENGTHS } from "./tokens.ts";

/** `put` reads the row it replaces, because its version is part of what is sealed: two requests, both counted. */
export const COMPARED: Readonly<Record<string, readonly string[]>> = {
  "TokenStore.get": ["GetItem, consistent"],
  "TokenStore.put": ["PutItem", "GetItem, then PutItem"],
  "RecordStore.create": ["PutItem of a new item"],
  "RecordStore.advance": ["UpdateItem under a condition"],
};
/** The aim for each. */
const LIMIT = 1.25;

/** Calls for 10,000 warm reads, at most. */
const KMS_LIMIT = 1;

/** @param kmsReads whose calls to KMS are counted, cold and warm */
export async function benchStore(asked: Rounds, say: (line: string) => void, kmsReads = 10_000) {
  return onStage(async (stage) => {
    const servers = await startEngines(stage);
    const engines = await servers.open();
    const { operations, rowBytes } = stage.add(await openOperations(engines));
    const subjects = Object.entries(operations).map(([name, operation]) => ({
      name,
      comparisons: (COMPARED[name] ?? []).map((to) => ({ to, limit: LIMIT })),
      measure: (count: number) => {
        // Garbage of earlier work must not be collected here.
        globalThis.gc?.();
        return measureCpu([process.pid], count, () => inLanes(LANES, count, operation));
      },
    }));
    const { access, refresh } = TOKEN_LENGTHS;
    const about = `store: ${LANES} at once, ${engines.name}, tokens of ${access} and ${refresh} characters, ${rowBytes} bytes a row`;
    const results = await measurePart({ about, measured: "the client's process", subjects }, asked, say);
    const store = openStore(engines);
    const read = (): Promise<void> => inLanes(LANES, kmsReads, (_, at) => readUser(store, keyOf(readerName(at))));
    const count = async (): Promise<number> => {
      const before = servers.kmsCalls();
      await read();
      return servers.kmsCalls() - before;
    };
    const kms = { reads: kmsReads, cold: await count(), warm: await count() };
    await store.close();
    return { ...results, kms, rowBytes, text: `${results.text}\n\n${kmsLine(kms)}` };
  });
}

/** @param kms calls for `reads` of rows under one data key, by a store just opened, and by the same store once more */
export function kmsLine({ reads, cold, warm }: Readonly<Record<"reads" | "cold" | "warm", number>>): string {
  const calls = `KMS calls for ${reads} warm reads: ${warm}, from a cold start ${cold}`;
  return `${calls}, ${aimText((warm * 10_000) / reads <= KMS_LIMIT, `at most ${KMS_LIMIT} for 10000`)}`;
}
