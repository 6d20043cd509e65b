/**
 * The store's part of the bench: what a call of the token store and of the record store costs on
 * DynamoDB beside the requests it cannot do without, and how often KMS is called. The client has a
 * separate process, and so do the engines behind it.
 */
import { join } from "node:path";
import { LANES } from "../../lanes.ts";
import { startEngines } from "../../services.ts";
import { awsEnvironment } from "../../../support/aws/environment.ts";
import { aimLine } from "../../spread.ts";
import { openOnStage } from "../../stage.ts";
import { startWorker } from "../../worker.ts";
import type { Comparison, PartOfBench } from "../part.ts";
import type { ClientCalls } from "./client.ts";
import { STORE_LABELS, type StoreSubject } from "./subjects.ts";
import { TOKEN_LENGTHS } from "./tokens.ts";

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

export interface StoreOptions {
  /** Reads whose calls to KMS are counted, cold and warm. */
  readonly kmsReads?: number;
  /** After the rounds each subject runs so often once more, and writes a CPU profile there. */
  readonly profile?: { readonly folder: string; readonly operations: number };
}

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
const CLIENT = join(import.meta.dirname, "client.ts");

export async function openStorePart({ kmsReads = 10_000, profile }: StoreOptions): Promise<PartOfBench> {
  return openOnStage(async (stage) => {
    const worker = startEngines(stage);
    const engines = await worker.call("open");
    const flags = ["--expose-gc"];
    const client = stage.add(startWorker<ClientCalls>(CLIENT, { flags, env: awsEnvironment(engines) }));
    const { rowBytes } = await client.call("open", engines);
    const subjects = (Object.keys(STORE_LABELS) as StoreSubject[]).map((name) => ({
      name,
      label: STORE_LABELS[name],
      measure: (count: number) => client.call("measure", name, count),
    }));
    const countKms = async (read: () => Promise<unknown>): Promise<number> => {
      const before = await worker.call("kmsCalls");
      await read();
      return (await worker.call("kmsCalls")) - before;
    };
    return {
      about: `store: ${LANES} at once, ${engines.name}, tokens of ${TOKEN_LENGTHS.access} and ${TOKEN_LENGTHS.refresh} characters, ${rowBytes} bytes a row`,
      measured: "the client's process",
      subjects,
      comparisons: STORE_COMPARISONS,
      more: async (say: (line: string) => void) => {
        const cold = await countKms(() => client.call("readCold", engines, kmsReads));
        const kms = { reads: kmsReads, cold, warm: await countKms(() => client.call("measure", "get", kmsReads)) };
        for (const { name, label } of subjects) {
          if (profile === undefined) break;
          await client.call("profile", name, profile.operations, `${profile.folder}/store-${name}.cpuprofile`);
          say(`profile    ${label}`);
        }
        return { found: { rowBytes, kms }, lines: [kmsLine(kms)] };
      },
    };
  });
}

export function kmsLine({ reads, cold, warm }: KmsFigures): string {
  const calls = `KMS calls for ${reads} warm reads: ${warm}, from a cold start ${cold}`;
  return aimLine((warm * 10_000) / reads <= KMS_LIMIT, calls, `at most ${KMS_LIMIT} for 10000`);
}
