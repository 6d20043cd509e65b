/**
 * What a flow costs when several processes share one store: one SQLite file, and one table of a
 * DynamoDB-compatible engine. The sum of their processor time counts.
 */
import { join } from "node:path";
import { startBrokers } from "./brokers.ts";
import { compareSubjects, microseconds, type Subject } from "./compare.ts";
import { atMost, type Section } from "./section.ts";
import type { Size } from "./size.ts";
import { awsEnvironment, onStage, type Stage, startEngines, startStubVendor } from "./stage.ts";

const LIMIT = 1.15;

export async function measureProcesses(size: Size, say: (line: string) => void): Promise<Section[]> {
  const counts = [1, size.processes];
  const onSqlite = await onStage(async (stage) => {
    const vendorUrl = await startStubVendor(stage);
    const start = (processes: number) => {
      const folder = stage.folder(`sqlite-${processes}`);
      return startBrokers({ folder, store: `sqlite:${join(folder, "broker.sqlite")}`, vendorUrl, processes });
    };
    return measureCounts("one SQLite file", { counts, start, stage, size }, say);
  });
  const onDynamoDb = await onStage(async (stage) => {
    const vendorUrl = await startStubVendor(stage);
    const worker = startEngines(stage);
    let engine = "";
    const start = async (processes: number) => {
      const { name, table, region, endpoint, keyArn, kmsEndpoint } = await worker.call("open");
      engine = name;
      return startBrokers({
        folder: stage.folder(`dynamodb-${processes}`),
        store: `dynamodb:${table}?region=${region}&endpoint=${endpoint}`,
        keys: `kms:${keyArn}`,
        vendorUrl,
        processes,
        env: awsEnvironment({ kmsEndpoint }),
      });
    };
    const section = await measureCounts("one table", { counts, start, stage, size: size.onEngine }, say);
    return { ...section, title: section.title.replace("one table", `one table of ${engine}`) };
  });
  return [onSqlite, onDynamoDb];
}

interface Counts {
  readonly counts: readonly number[];
  readonly start: (processes: number) => ReturnType<typeof startBrokers>;
  readonly stage: Stage;
  readonly size: Pick<Size, "flows" | "rounds" | "warmUp">;
}

async function measureCounts(
  store: string,
  { counts, start, stage, size }: Counts,
  say: (line: string) => void,
): Promise<Section> {
  const subjects: Subject[] = [];
  for (const processes of counts) {
    const { measure } = stage.add(await start(processes));
    subjects.push({ name: processes === 1 ? "1 process" : `${processes} processes`, processes, measure });
  }
  const compared = await compareSubjects(subjects, size, (line) => say(`${store}  ${line}`));
  const rows = compared.map(({ name, cpu, ratio }, index) => ({
    what: name,
    figure: microseconds(cpu),
    ...(index === 0 ? {} : { ratio, aim: atMost(LIMIT, ratio) }),
  }));
  return { title: `Processes on ${store}: CPU per flow, of all of them`, rows };
}
