/**
 * What one flow, one refresh, one call of /mcp and one operation of a store do, in numbers that are
 * the same on every machine: hashes, JSON, buffers, promises, bytes of log. Each
 * subject is in this process, composed as it is deployed, and listens on a port; what it does is counted.
 */
import { startFakeVendor } from "@oauth-broker/simulators";
import { setImmediate as nextTurn } from "node:timers/promises";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { start as startBroker } from "@oauth-broker/broker/src/start.ts";
import { createLog } from "@oauth-broker/service";
import { loadSettings } from "../../../../packages/mcp-auth/src/config.ts";
import { startServer } from "../../../../packages/mcp-auth/src/start.ts";
import { tableEnvironment } from "../../../support/aws/environment.ts";
import { freePort } from "../../../support/free-port.ts";
import { startEngines } from "../../engines.ts";
import { configureBroker, mcpEnvironment } from "../../services.ts";
import { alignTable } from "../../report.ts";
import { onStage, type Stage } from "../../stage.ts";
import { benchParties, brokerLanes, STORES, WORKS } from "../broker/part.ts";
import { mcpLanes, PRE_REGISTERED } from "../mcp/part.ts";
import { BENCH_SERVER } from "../mcp/server.ts";
import { type Counts, countedIn, whileCounting } from "./counter.ts";
import { countedStores, openCountedStore } from "./stores.ts";

/** By operation and subject; of one operation, in whole numbers. */
export type CountTable = Readonly<Record<string, Readonly<Record<string, Counts>>>>;

const PARTS = { broker: countBrokers, store: countStores, mcp: countServers } as const;
export type CountedPart = keyof typeof PARTS;
export const COUNTED_PARTS = Object.keys(PARTS) as CountedPart[];

/** So that caches are full and lazy parts are loaded. */
const WARM_UP = 8;
/** What happens by time (a flush, a metric) is rounded away. */
const OPERATIONS = 16;

type Tables = Record<string, Record<string, Counts>>;

/** @throws Error when an answer is wrong */
export async function countPart(part: CountedPart): Promise<CountTable> {
  const table: Tables = {};
  await whileCounting(() => onStage((stage) => PARTS[part](stage, table)));
  return table;
}

async function countBrokers(stage: Stage, table: Tables): Promise<void> {
  const parties = benchParties(stage.addBehind(await startFakeVendor({ codes: "any" })).url);
  for (const [on, store] of Object.entries(STORES)) {
    const { counts, log } = createSubject();
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const folder = stage.folder(on);
    configureBroker(folder, { baseUrl, store }, Object.values(parties));
    const start = () => startBroker(loadConfig({}, folder), log, { graceMs: 0 });
    stage.add(await countedIn(counts, start));
    for (const work of WORKS) {
      const { run, close } = await brokerLanes(work, baseUrl, parties)();
      (table[work] ??= {})[on] = await countEach(counts, run);
      await close();
    }
  }
}

async function countServers(stage: Stage, table: Tables): Promise<void> {
  const { url: vendor } = stage.addBehind(await startFakeVendor({ codes: "named" }));
  const environments = {
    sqlite: {},
    preRegistered: PRE_REGISTERED,
    // The last, because its variables stay.
    dynamodb: tableEnvironment(await (await startEngines(stage, "here")).open()),
  };
  for (const [on, env] of Object.entries(environments)) {
    const { counts, log } = createSubject();
    stage.setVariables({ DATA_DIR: stage.folder(on), ...env });
    const settings = loadSettings(mcpEnvironment(vendor, String(await freePort()), env));
    const server = stage.add(await countedIn(counts, () => startServer(BENCH_SERVER, settings, { log })));
    const { run, close } = await mcpLanes("token", server.url, on === "preRegistered" ? vendor : undefined)(0);
    (table["/mcp"] ??= {})[on] = await countEach(counts, run);
    await close();
  }
}

async function countStores(stage: Stage, table: Tables): Promise<void> {
  const engines = await (await startEngines(stage, "here")).open();
  const folder = stage.folder("stores");
  for (const [on, beneath] of Object.entries(countedStores(engines, folder))) {
    const { counts } = createSubject();
    const { operations } = stage.add(await openCountedStore(beneath, folder, WARM_UP + OPERATIONS));
    for (const [name, operation] of Object.entries(operations)) {
      (table[name] ??= {})[on] = await countEach(counts, () => countedIn(counts, operation));
    }
  }
}

function createSubject() {
  const counts: Counts = { hashes: 0, recordMacs: 0, json: 0, bufferFrom: 0, promises: 0, logBytes: 0 };
  return { counts, log: createLog({ write: (line) => void (counts.logBytes += Buffer.byteLength(line)) }) };
}

/** @param counts of the subject, which the operation adds to */
async function countEach(counts: Counts, operation: () => Promise<unknown>): Promise<Counts> {
  const repeat = async (times: number): Promise<Counts> => {
    for (let done = 0; done < times; done += 1) await operation();
    // What follows an answer, such as its line in the log.
    await nextTurn();
    return { ...counts };
  };
  const before = await repeat(WARM_UP);
  const after = await repeat(OPERATIONS);
  const names = Object.keys(after) as (keyof Counts)[];
  const each = names.map((name) => [name, Math.round((after[name] - before[name]) / OPERATIONS)]);
  return Object.fromEntries(each);
}

/** A line per subject and operation. */
export function countLines(table: CountTable): string {
  const heads = ["per operation", "hashes", "record MACs", "JSON", "Buffer.from", "promises", "bytes of log", ""];
  const rows = Object.entries(table).flatMap(([work, subjects]) =>
    Object.entries(subjects).map(([on, counts]) => [`${work}, ${on}`, ...Object.values(counts).map(String), ""]),
  );
  return alignTable([heads, ...rows]);
}
