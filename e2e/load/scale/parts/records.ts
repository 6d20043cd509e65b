/**
 * What a flow costs when a thousand, and when a million records are in the store: memory and
 * SQLite. The records are there at the start; those of the run's own flows come on top. On DynamoDB
 * a request names one item by its key, so what a flow is charged does not depend on the table:
 * units.ts counts that on tables of different sizes.
 */
import { join } from "node:path";
import { sqliteRecordStore } from "@oauth-broker/token-store/sqlite";
import { BROKER_SOURCE } from "../../../support/paths.ts";
import { type Brokers, startBrokers } from "../fixture/brokers.ts";
import { compareSubjects, lastRatio, rowsOf } from "../compare.ts";
import { fill } from "../fixture/fill.ts";
import { type Found, grouped, pageLines, type Section } from "../section.ts";
import type { Size } from "../size.ts";
import { startVendor } from "../../services.ts";
import { onStage, type Stage } from "../../stage.ts";

const LIMIT = 1.1;
const FILLED_MEMORY = join(import.meta.dirname, "..", "fixture", "filled-memory.ts");
/** A million records need more than the engine's default allows. */
const MEMORY_FLAGS = ["--max-old-space-size=12000"];

export async function measureRecords(size: Size, say: (line: string) => void): Promise<Found> {
  const sections: Section[] = [];
  const lines: string[][] = [];
  const [from = 0, to = 0] = [size.records[0], size.records.at(-1)];
  for (const store of ["memory", "SQLite"] as const) {
    const compared = await onStage(async (stage) => {
      const { url: vendorUrl } = await startVendor("any", stage);
      const subjects = [];
      for (const records of size.records) {
        const name = `${records} records`;
        say(`${store}: a broker with ${name}`);
        const start = store === "memory" ? startOnMemory : startOnSqlite;
        const { measure } = await start(records, vendorUrl, stage);
        subjects.push({ name, measure });
      }
      return compareSubjects(subjects, size, (line) => say(`${store}  ${line}`));
    });
    lines.push([`records in the store, ${store}`, grouped(from), grouped(to), lastRatio(compared), `${LIMIT} ×`]);
    sections.push({ title: `Records in the store, ${store}: CPU per flow`, rows: rowsOf(compared, "", LIMIT) });
  }
  return { sections, page: pageLines("records", lines) };
}

async function startOnMemory(records: number, vendorUrl: string, stage: Stage): Promise<Brokers> {
  const flags = [...MEMORY_FLAGS, "--import", `${FILLED_MEMORY}?records=${records}`];
  const folder = stage.folder(`memory-${records}`);
  return startBrokers({ folder, store: "memory:", vendorUrl, flags, file: BROKER_SOURCE }, stage);
}

async function startOnSqlite(records: number, vendorUrl: string, stage: Stage): Promise<Brokers> {
  const folder = stage.folder(`sqlite-${records}`);
  const path = join(folder, "broker.sqlite");
  const now = (): number => Math.floor(Date.now() / 1000);
  const store = sqliteRecordStore({ path, now });
  await fill(store, records, now());
  await store.close();
  return startBrokers({ folder, store: `sqlite:${path}`, vendorUrl }, stage);
}
