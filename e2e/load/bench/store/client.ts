/** The measured worker: the process of a server that stores tokens, with nothing else in it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { dirname } from "node:path";
import type { Engines } from "../../engines.ts";
import { inLanes, LANES } from "../../lanes.ts";
import type { Measurement } from "../../machine.ts";
import { type Operation, openOperations } from "./operations.ts";
import type { StoreSubject } from "./subjects.ts";
import { keyOf, openStore, readerName, readUser } from "./tokens.ts";
import { answerCalls } from "../../worker.ts";

// A type, not an interface: it must have an index signature.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type ClientCalls = {
  readonly open: (engines: Engines) => Promise<{ readonly rowBytes: number }>;
  readonly measure: (subject: StoreSubject, count: number) => Promise<Measurement>;
  /** @param path of the CPU profile that it writes */
  readonly profile: (subject: StoreSubject, count: number, path: string) => Promise<void>;
  /** By a store that has just been opened. */
  readonly readCold: (engines: Engines, count: number) => Promise<void>;
};

const operations = new Map<string, Operation>();
const closing: (() => Promise<void>)[] = [];

const calls: ClientCalls = {
  open: async (engines) => {
    const opened = await openOperations(engines);
    closing.push(opened.close);
    for (const [name, operation] of Object.entries(opened.operations)) operations.set(name, operation);
    return { rowBytes: opened.rowBytes };
  },
  measure: (subject, count) => measure(operationOf(subject), count),
  profile: async (subject, count, path) => {
    const session = new Session();
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await inLanes(LANES, count, operationOf(subject));
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(profile));
  },
  readCold: async (engines, count) => {
    const store = openStore(engines);
    await inLanes(LANES, count, (_, at) => readUser(store, keyOf(readerName(at))));
    await store.close();
  },
};

function operationOf(name: string): Operation {
  const operation = operations.get(name);
  if (operation === undefined) throw new Error(`${name} is not open`);
  return operation;
}

async function measure(operation: Operation, count: number): Promise<Measurement> {
  // Garbage of earlier work must not be collected here.
  globalThis.gc?.();
  const startedAt = performance.now();
  const cpuAtStart = process.cpuUsage();
  await inLanes(LANES, count, operation);
  const { user, system } = process.cpuUsage(cpuAtStart);
  const wallMicroseconds = (performance.now() - startedAt) * 1000;
  return { cpuMicroseconds: (user + system) / count, busy: (user + system) / wallMicroseconds };
}

answerCalls(calls, async () => {
  for (const close of closing) await close();
});
