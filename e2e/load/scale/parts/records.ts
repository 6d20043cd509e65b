/**
 * What a flow costs when a thousand, and when a million records are in the store: memory and
 * SQLite. The records are there at the start; those of the run's own flows come on top. On DynamoDB
 * a request names one item by its key, so what a flow is charged does not depend on the table:
 * units.ts shows that on tables of different sizes.
 */
import { join } from "node:path";
import { systemClock as now } from "@oauth-broker/oauth-core";
import { sqliteRecordStore } from "@oauth-broker/token-store/sqlite";
import { BROKER_SOURCE } from "../../../support/paths.ts";
import type { Subject } from "../../rounds.ts";
import { startVendor } from "../../services.ts";
import { onStage, type Stage } from "../../stage.ts";
import { type Brokers, startDriven } from "../fixture/brokers.ts";
import { fill } from "../fixture/fill.ts";
import { compareWithFirst, type Found, grouped, growthLine, lastRatio, pageLines } from "../section.ts";
import type { Size } from "../size.ts";

const LIMIT = 1.1;
const FILLED_MEMORY = join(import.meta.dirname, "..", "fixture", "filled-memory.ts");
/** A million records need more than the engine's default allows. */
const MEMORY_FLAGS = ["--max-old-space-size=12000"];

export async function measureRecords(size: Size, say: (line: string) => void): Promise<Found> {
  const found = [];
  for (const [store, start] of Object.entries({ memory: startOnMemory, SQLite: startOnSqlite })) {
    const outcomes = await onStage(async (stage) => {
      const { url: vendorUrl } = await startVendor("any", stage);
      const subjects: Subject[] = [];
      for (const records of size.records) {
        const name = `${records} records`;
        say(`${store}: a broker with ${name}`);
        subjects.push({ name, measure: (await start(records, vendorUrl, stage)).measure });
      }
      return compareWithFirst(subjects, size, (line) => say(`${store}  ${line}`), LIMIT);
    });
    found.push({ store, outcomes });
  }
  const [from = 0, to = 0] = [size.records[0], size.records.at(-1)];
  const lines = found.map(({ store, outcomes }) =>
    growthLine([`records in the store, ${store}`, grouped(from), grouped(to)], lastRatio(outcomes), LIMIT),
  );
  const sections = found.map(({ store, outcomes }) => ({
    title: `Records in the store, CPU per flow, ${store}`,
    outcomes,
  }));
  return { sections, ...pageLines("records", lines) };
}

async function startOnMemory(records: number, vendorUrl: string, stage: Stage): Promise<Brokers> {
  const flags = [...MEMORY_FLAGS, "--import", `${FILLED_MEMORY}?records=${records}`];
  return startDriven({ store: "memory:", vendorUrl, flags, file: BROKER_SOURCE }, stage);
}

async function startOnSqlite(records: number, vendorUrl: string, stage: Stage): Promise<Brokers> {
  const path = join(stage.folder("sqlite"), "broker.sqlite");
  const store = sqliteRecordStore({ path, now });
  await fill(store, records, now());
  await store.close();
  return startDriven({ store: `sqlite:${path}`, vendorUrl }, stage);
}
