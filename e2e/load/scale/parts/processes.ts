/**
 * What a flow costs when several processes share one store: one SQLite file, and one table of a
 * DynamoDB-compatible engine. The sum of their processor time is the result. The control is as many
 * processes with a store each: what they cost more than one is the machine's, as they share its
 * caches and each has less to do at once; what sharing costs is the ratio to the control.
 */
import { join } from "node:path";
import { type Brokers, startBrokers } from "../fixture/brokers.ts";
import { type ComparedSubject, compareSubjects, rowsOf } from "../compare.ts";
import { atMost, type Found, pageLines, times } from "../section.ts";
import type { Size } from "../size.ts";
import { linesToBuy } from "../to-buy.ts";
import { startEngines } from "../../engines.ts";
import { startVendor } from "../../services.ts";
import { awsEnvironment } from "../../../support/aws/environment.ts";
import { onStage } from "../../stage.ts";

const LIMIT = 1.15;

export async function measureProcesses(size: Size, say: (line: string) => void): Promise<Found> {
  const onSqlite = await onStage(async (stage) => {
    const { url: vendorUrl } = await startVendor("any", stage);
    let files = 0;
    const start: Start = async (processes, stores) => {
      const folder = stage.folder(`sqlite-${(files += 1)}`);
      const urls = Array.from({ length: stores }, (_, number) => `sqlite:${join(folder, `${number}.sqlite`)}`);
      return startBrokers({ folder, store: oneOrEach(urls), vendorUrl, processes }, stage);
    };
    return measureCounts("SQLite file", { start, processes: size.processes, size }, say);
  });
  const onDynamoDb = await onStage(async (stage) => {
    const { url: vendorUrl } = await startVendor("any", stage);
    const engines = await startEngines(stage);
    let tables = 0;
    const start: Start = async (processes, stores) => {
      const { keyArn, kmsEndpoint } = await engines.open();
      const urls: string[] = [];
      for (let number = 0; number < stores; number += 1) {
        const { table, region, endpoint } = await engines.open();
        urls.push(`dynamodb:${table}?region=${region}&endpoint=${endpoint}`);
      }
      const folder = stage.folder(`dynamodb-${(tables += 1)}`);
      const [keys, env] = [`kms:${keyArn}`, awsEnvironment({ kmsEndpoint })];
      return startBrokers({ folder, store: oneOrEach(urls), keys, vendorUrl, processes, env }, stage);
    };
    return measureCounts("table", { start, processes: size.processes, size: size.onEngine }, say);
  });
  return {
    sections: [onSqlite, onDynamoDb].flatMap(({ sections }) => sections),
    page: [
      ...pageLines("processes", [...onSqlite.growth, ...onDynamoDb.growth]),
      "",
      ...linesToBuy(onSqlite.flowMs, onDynamoDb.flowMs),
    ],
  };
}

/** @param stores one, or as many as processes */
type Start = (processes: number, stores: number) => Promise<Brokers>;

function oneOrEach(stores: readonly string[]): string | readonly string[] {
  return stores.length === 1 ? stores[0]! : stores;
}

interface Counted extends Pick<Found, "sections"> {
  /** Cells of the table of the page. */
  readonly growth: readonly (readonly string[])[];
  /** Processor time per flow of one process. */
  readonly flowMs: number;
}

/** @param store a file or a table, as a word */
async function measureCounts(
  store: string,
  { processes, start, size }: { readonly processes: number; readonly start: Start; readonly size: Size["onEngine"] },
  say: (line: string) => void,
): Promise<Counted> {
  const one = "1 process";
  const apart = `${processes} processes, a ${store} each`;
  const shared = `${processes} processes, one ${store}`;
  const subject = async (name: string, count: number, stores: number): Promise<ComparedSubject> => {
    const { measure } = await start(count, stores);
    return { name, processes: count, measure: (flows) => measure(flows, count * size.atOnce) };
  };
  const subjects = [
    await subject(one, 1, 1),
    await subject(apart, processes, processes),
    { ...(await subject(shared, processes, 1)), control: apart },
  ];
  const compared = await compareSubjects(subjects, size, (line) => say(`${store}  ${line}`));
  const [alone, each, all] = [compared[0]!, compared[1]!, compared[2]!];
  const sharing = all.toControl!;
  const cost = { what: "what sharing costs: to a store each", figure: "", ratio: sharing, aim: atMost(LIMIT, sharing) };
  return {
    sections: [{ title: `Processes on one ${store}: CPU per flow, of all of them`, rows: [...rowsOf(compared), cost] }],
    growth: [
      [`processes with a ${store} each`, "1", `${processes}`, times(each.ratio), ""],
      [`processes on one ${store}`, "1", `${processes}`, times(all.ratio), ""],
      [`what sharing the ${store} costs`, "one each", "one for all", times(sharing), `${LIMIT} ×`],
    ],
    flowMs: alone.cpu.median / 1000,
  };
}
