/**
 * Subjects that are servers, each in its own process on loopback. The same operations are measured
 * in time, over 32 connections, and in counts, over one.
 */
import { cpuMicroseconds, measureCpu } from "../machine.ts";
import { LANES, inLanes } from "../lanes.ts";
import type { Service, ServiceProcess } from "../../support/service-process.ts";
import { quantileOf } from "../spread.ts";
import {
  type CountTable,
  countOperation,
  COUNTER,
  createServerCounts,
  type OperationCounts,
} from "./counts/operation-counts.ts";
import type { BenchSubject } from "./part.ts";

/** One connection that repeats its operation. */
export interface Lane {
  /** @throws Error when an answer is wrong */
  run(): Promise<unknown>;
  close(): Promise<void>;
}

export interface Served {
  /** The operation. */
  readonly work: string;
  /** The name of its server. */
  readonly on: string;
  readonly label: string;
  readonly server: ServiceProcess;
  /** Of the operations that are asked for; default 1. */
  readonly share?: number;
  openLane(number: number): Promise<Lane>;
}

export interface ServedPart {
  readonly served: readonly Served[];
  stop(): Promise<void>;
}

/** What else a server does while it is measured. */
export interface Watch {
  /** It leaves a CPU profile there when it stops. */
  readonly profileFolder?: string | undefined;
  /** A module that it loads first. */
  readonly preload?: string | undefined;
  /** Takes what it prints once it listens. */
  readonly onLine?: ((server: string, line: string) => void) | undefined;
}

/** @returns flags of Node.js, and what takes the server's lines */
export function watched(
  name: string,
  { profileFolder: folder, preload, onLine }: Watch,
  profile: string = name,
): { readonly flags: string[] } & Pick<Service, "onLine"> {
  const profiling = ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${profile}.cpuprofile`];
  return {
    flags: [...(preload === undefined ? [] : ["--import", preload]), ...(folder === undefined ? [] : profiling)],
    ...(onLine && { onLine: (line: string) => onLine(name, line) }),
  };
}

export function nameOf({ work, on }: Pick<Served, "work" | "on">): string {
  return `${work} ${on}`;
}

/** @returns it as a subject of the rounds, and what ends its connections */
export function timed(one: Served, vendor?: ServiceProcess): BenchSubject & { close(): Promise<void> } {
  const { label, server, share = 1, openLane } = one;
  const lanes: Lane[] = [];
  return {
    name: nameOf(one),
    label,
    measure: async (asked) => {
      const count = Math.ceil(asked * share);
      // One by one: an engine behind it may be slow, and this is not what is measured.
      while (lanes.length < LANES) lanes.push(await openLane(lanes.length));
      // Each connection is open again before the first operation that is measured.
      await Promise.all(lanes.map((lane) => lane.run()));
      const milliseconds: number[] = [];
      const ofVendor = (): number => (vendor === undefined ? Number.NaN : cpuMicroseconds(vendor.pid));
      const atStart = ofVendor();
      const measured = await measureCpu([server.pid], count, () =>
        inLanes(LANES, count, async (at) => {
          const startedAt = performance.now();
          await lanes[at]?.run();
          milliseconds.push(performance.now() - startedAt);
        }),
      );
      return {
        ...measured,
        p99Milliseconds: quantileOf(milliseconds, 0.99),
        ...(vendor && { vendorMicroseconds: (ofVendor() - atStart) / count }),
      };
    },
    close: async () => void (await Promise.all(lanes.map((lane) => lane.close()))),
  };
}

/**
 * @param countedAs the name of an operation in the table; undefined: it is not counted
 * @throws Error when an answer is wrong
 */
export async function countServed(
  start: (watch: Watch) => Promise<ServedPart>,
  countedAs: (work: string) => string | undefined,
): Promise<CountTable> {
  const { onLine, read } = createServerCounts();
  const { served, stop } = await start({ preload: COUNTER, onLine });
  try {
    const table: Record<string, Record<string, OperationCounts>> = {};
    for (const { work, on, server, openLane } of served) {
      const name = countedAs(work);
      if (name === undefined) continue;
      const lane = await openLane(0);
      (table[name] ??= {})[on] = await countOperation(() => read(on, server), lane.run);
      await lane.close();
    }
    return table;
  } finally {
    await stop();
  }
}
