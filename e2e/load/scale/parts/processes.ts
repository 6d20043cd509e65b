/**
 * What a flow costs when several processes share one store: one SQLite file, and one table of a
 * DynamoDB-compatible engine. The sum of their processor time is the result. The control is as many
 * processes with a store each: what they cost more than one is the machine's, as they share its
 * caches and each has less to do at once; what sharing costs is the ratio to the control.
 */
import { join } from "node:path";
import { awsEnvironment } from "../../../support/aws/environment.ts";
import { startEngines } from "../../engines.ts";
import type { Outcome, Subject } from "../../rounds.ts";
import { startVendor } from "../../services.ts";
import { onStage, type Stage } from "../../stage.ts";
import { type DrivenOptions, startDriven } from "../fixture/brokers.ts";
import { compareWithFirst, type Found, growthLine, lastRatio, pageLines } from "../section.ts";
import type { Size } from "../size.ts";
import { linesToBuy } from "../to-buy.ts";

const LIMIT = 1.15;

/** New, empty stores, one or as many as processes. */
type OpenStores = (count: number) => Promise<Pick<DrivenOptions, "keys" | "env"> & { readonly stores: string[] }>;

export async function measureProcesses(size: Size, say: (line: string) => void): Promise<Found> {
  const onSqlite = await onStage(async (stage) => {
    const open: OpenStores = async (count) => {
      const folder = stage.folder("sqlite");
      return { stores: Array.from({ length: count }, (_, number) => `sqlite:${join(folder, `${number}.sqlite`)}`) };
    };
    return compareCounts(open, size, stage, (line) => say(`SQLite file  ${line}`));
  });
  const onDynamoDb = await onStage(async (stage) => {
    const engines = await startEngines(stage);
    const open: OpenStores = async (count) => {
      const { keyArn, kmsEndpoint } = await engines.open();
      const stores: string[] = [];
      for (let number = 0; number < count; number += 1) {
        const { table, region, endpoint } = await engines.open();
        stores.push(`dynamodb:${table}?region=${region}&endpoint=${endpoint}`);
      }
      return { stores, keys: `kms:${keyArn}`, env: awsEnvironment({ kmsEndpoint }) };
    };
    return compareCounts(open, { ...size, ...size.onEngine }, stage, (line) => say(`table  ${line}`));
  });
  const found = { "SQLite file": onSqlite, table: onDynamoDb };
  const many = String(size.processes);
  const lines = Object.entries(found).flatMap(([store, outcomes]) => [
    growthLine([`processes with a ${store} each`, "1", many], lastRatio(outcomes.slice(0, 2))),
    growthLine([`processes on one ${store}`, "1", many], lastRatio(outcomes)),
    growthLine([`what sharing the ${store} costs`, "one each", "one for all"], lastRatio(outcomes, 1), LIMIT),
  ]);
  const { page, ...rest } = pageLines("processes", lines);
  const [sqliteMs = 0, tableMs = 0] = Object.values(found).map(
    ([alone]) => (alone?.figures.cpuMicroseconds?.median ?? Number.NaN) / 1000,
  );
  const sections = Object.entries(found).map(([store, outcomes]) => {
    return { title: `CPU per flow, of all processes, on a ${store}`, outcomes };
  });
  return { sections, page: [...page, "", ...linesToBuy(sqliteMs, tableMs)], ...rest };
}

/** @returns one process; as many with a store each; as many on one store, compared with both */
async function compareCounts(
  open: OpenStores,
  { processes, ...size }: Size,
  stage: Stage,
  say: (line: string) => void,
): Promise<Outcome[]> {
  const { url: vendorUrl } = await startVendor("any", stage);
  const subject = async (name: string, count: number, storeCount: number): Promise<Subject> => {
    const { stores, ...more } = await open(storeCount);
    const store = Array.from({ length: count }, (_, at) => stores[at % stores.length]!);
    const { measure } = await startDriven({ store, vendorUrl, ...more }, stage);
    return { name, processes: count, measure: (flows) => measure(flows, count * size.atOnce) };
  };
  const alone = await subject("1 process", 1, 1);
  const apart = await subject(`${processes} processes, a store each`, processes, processes);
  const shared = await subject(`${processes} processes, one store`, processes, 1);
  const comparisons = [{ to: apart.name, limit: LIMIT }];
  return compareWithFirst([alone, apart, { ...shared, comparisons }], size, say);
}
