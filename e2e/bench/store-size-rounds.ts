/**
 * The cost of a read in a small table and in a large one, side by side in rounds, for DynamoDB and
 * for SQLite.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMicroseconds } from "./cpu-time.ts";
import { type Spread, spreadOf } from "./figures.ts";
import type { SizedName } from "./store-client.ts";
import { progress, type SizeFigures } from "./store-figures.ts";
import type { StoreHarness } from "./store-harness.ts";
import { LEAST_ROWS, READERS } from "./store-subjects.ts";

export interface SizeOptions {
  /** Per subject and round. */
  readonly operations: number;
  readonly rounds: number;
  /** Operations per subject before the first round. */
  readonly storeWarmUp: number;
  /** Of the larger table; at least 1000. */
  readonly rows: number;
}

interface Table {
  readonly name: SizedName;
  readonly engine: SizeFigures["engine"];
  readonly rows: number;
  /** Of the engine; absent when its work is in this process, or in one that others use too. */
  readonly pid?: number;
}

interface Reads {
  readonly client: number;
  readonly engine?: number;
}

/** Rows created between two lines of progress. */
const CHUNK = 20_000;

export async function measureSizes(
  harness: StoreHarness,
  options: SizeOptions,
  say: (line: string) => void,
): Promise<SizeFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), "oauth-broker-bench-"));
  try {
    const sizes = [...new Set([LEAST_ROWS, options.rows])];
    const tables: Table[] = [];
    for (const rows of sizes) {
      tables.push(await dynamoDbTable(harness, rows, say));
      tables.push(await sqliteTable(harness, rows, join(folder, `${rows}.sqlite`), say));
    }
    return figuresOf(tables, await runRounds(tables, harness, options, say));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In engines of its own: dynalite keeps all tables of a process in one tree. */
async function dynamoDbTable(
  { client, moreEngines }: StoreHarness,
  rows: number,
  say: (line: string) => void,
): Promise<Table> {
  const { worker, engines } = await moreEngines();
  const name: SizedName = `${engines.name}, ${rows} rows`;
  await client.call("openSized", name, engines, rows);
  await fill({ client }, name, rows, say);
  return { name, engine: engines.name, rows, ...(engines.name === "dynalite" ? { pid: worker.pid } : {}) };
}

async function sqliteTable(
  { client, main: { engines } }: StoreHarness,
  rows: number,
  path: string,
  say: (line: string) => void,
): Promise<Table> {
  const name: SizedName = `SQLite, ${rows} rows`;
  await client.call("openSized", name, engines, rows, path);
  await fill({ client }, name, rows, say);
  return { name, engine: "SQLite", rows };
}

async function fill(
  { client }: Pick<StoreHarness, "client">,
  name: SizedName,
  rows: number,
  say: (line: string) => void,
): Promise<void> {
  let made = READERS;
  for (let from = 0; from < rows; from += CHUNK) {
    const to = Math.min(from + CHUNK, rows);
    made += await client.call("fill", name, from, to);
    if (rows > CHUNK) say(`filling    ${name}: ${Math.round((to / rows) * 100)} %`);
  }
  if (made !== rows) throw new Error(`${name}: there are ${made}`);
}

async function runRounds(
  tables: readonly Table[],
  { client }: StoreHarness,
  { operations, rounds, storeWarmUp }: SizeOptions,
  say: (line: string) => void,
): Promise<Map<SizedName, Reads>[]> {
  const measured: Map<SizedName, Reads>[] = [];
  for (const { name } of storeWarmUp > 0 ? tables : []) await client.call("measure", name, storeWarmUp);
  for (let round = 1; round <= rounds; round += 1) {
    const reads = new Map<SizedName, Reads>();
    for (const { name, pid } of round % 2 === 1 ? tables : tables.toReversed()) {
      const before = pid === undefined ? 0 : cpuMicroseconds(pid);
      const ofClient = await client.call("measure", name, operations);
      const ofEngine = pid === undefined ? {} : { engine: (cpuMicroseconds(pid) - before) / operations };
      reads.set(name, { client: ofClient.cpuMicroseconds, ...ofEngine });
      say(`round ${round}/${rounds}  ${progress(name, ofClient.cpuMicroseconds)}`);
    }
    measured.push(reads);
  }
  return measured;
}

function figuresOf(tables: readonly Table[], rounds: readonly ReadonlyMap<SizedName, Reads>[]): SizeFigures[] {
  const spread = (of: (reads: ReadonlyMap<SizedName, Reads>) => number | undefined): Spread =>
    spreadOf(rounds.map((reads) => of(reads) ?? Number.NaN));
  return tables
    .toSorted((a, b) => a.engine.localeCompare(b.engine) || a.rows - b.rows)
    .map(({ name, engine, rows, pid }) => {
      const least = tables.find((other) => other.engine === engine)!.name;
      const ratio = spread((reads) => (reads.get(name)?.client ?? 0) / (reads.get(least)?.client ?? 0));
      const cpu = spread((reads) => reads.get(name)?.client);
      const behind = pid === undefined ? {} : { engineCpuMicroseconds: spread((reads) => reads.get(name)?.engine) };
      return { engine, rows, cpuMicroseconds: cpu, ...behind, ratio };
    });
}
