/** The measured worker: the process of a server that stores tokens, with nothing else in it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { dirname } from "node:path";
import type { Engines } from "../../engines.ts";
import { type Operation, openOperations } from "./operations.ts";
import { LANES, READERS, type StoreSubject } from "./subjects.ts";
import { keyOf, openStore, readUser } from "./tokens.ts";
import { answerCalls } from "../../worker.ts";

export interface StoreMeasurement {
  /** CPU time of the calling process, per operation. */
  readonly cpuMicroseconds: number;
  /** The share of the time that the client was on a processor. */
  readonly busy: number;
}

// A type, not an interface: it must have an index signature.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type ClientCalls = {
  readonly open: (engines: Engines) => Promise<{ readonly rowBytes: number }>;
  readonly measure: (subject: StoreSubject, count: number) => Promise<StoreMeasurement>;
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
    await repeat(operationOf(subject), count);
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(profile));
  },
  readCold: async (engines, count) => {
    const store = openStore(engines);
    let at = 0;
    await repeat(() => readUser(store, keyOf(`reader-${(at += 1) % READERS}`)), count);
    await store.close();
  },
};

function operationOf(name: string): Operation {
  const operation = operations.get(name);
  if (operation === undefined) throw new Error(`${name} is not open`);
  return operation;
}

async function measure(operation: Operation, count: number): Promise<StoreMeasurement> {
  // Garbage of earlier work must not be collected here.
  globalThis.gc?.();
  const startedAt = performance.now();
  const cpuAtStart = process.cpuUsage();
  await repeat(operation, count);
  const { user, system } = process.cpuUsage(cpuAtStart);
  const wallMicroseconds = (performance.now() - startedAt) * 1000;
  return { cpuMicroseconds: (user + system) / count, busy: (user + system) / wallMicroseconds };
}

async function repeat(operation: Operation, count: number): Promise<void> {
  let left = count;
  const lane = async (_: unknown, number: number): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await operation(number);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

answerCalls(calls, async () => {
  for (const close of closing) await close();
});
