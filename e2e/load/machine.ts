/**
 * What a run reads from the operating system: the processor time that another process has used so
 * far, and which machine it is. Time: all threads, user and kernel. Independent of what
 * the process reports, and of wall time, which other work on the machine would distort.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

export function describeMachine(): string {
  return `Node.js ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? "unknown"}`;
}

/** What some operations cost. All but the first two may not have been measured. */
export interface Measurement {
  /** CPU time of the measured processes, per operation. */
  readonly cpuMicroseconds: number;
  /** How much of the time they were on a processor. Near 100: the driver kept them busy. */
  readonly busyPercent: number;
  /** What each process used of `cpuMicroseconds`. */
  readonly byProcess?: readonly number[];
  readonly perSecond?: number;
  /** Per operation, as the client measured it. */
  readonly p99Milliseconds?: number;
}

/**
 * Long enough for a buffered log to be written, so that its cost falls into the right measurement.
 */
const SETTLE_MS = 150;

/**
 * @param pids of the processes whose processor time is added up
 * @param run makes this many operations
 */
export async function measureCpu(
  pids: readonly number[],
  count: number,
  run: () => Promise<void>,
): Promise<Measurement> {
  const usedByEach = (): readonly number[] => pids.map(cpuMicroseconds);
  await sleep(SETTLE_MS);
  const atStart = usedByEach();
  const startedAt = performance.now();
  await run();
  const wallMicroseconds = (performance.now() - startedAt) * 1000;
  const atEnd = usedByEach();
  await sleep(SETTLE_MS);
  const sum = (ofEach: readonly number[]): number => ofEach.reduce((all, one) => all + one, 0);
  const byProcess = usedByEach().map((used, at) => (used - (atStart[at] ?? 0)) / count);
  return {
    cpuMicroseconds: sum(byProcess),
    busyPercent: ((sum(atEnd) - sum(atStart)) / wallMicroseconds) * 100,
    byProcess,
    perSecond: (count / wallMicroseconds) * 1_000_000,
  };
}

/** @throws Error when the system offers no such number, or the process has ended */
export function cpuMicroseconds(pid: number): number {
  if (process.platform === "linux") return existsSync(`/proc/${pid}/schedstat`) ? fromSchedstat(pid) : fromStat(pid);
  if (process.platform === "darwin") return fromPs(pid);
  throw new Error(
    `The bench cannot read the processor time of another process on ${process.platform}: run it on Linux or macOS.`,
  );
}

/** Nanoseconds of each thread that was ever seen: what one had used does not vanish with it. */
const NANOSECONDS = new Map<string, number>();

/** Nanoseconds on a processor, per thread. */
function fromSchedstat(pid: number): number {
  const process = `/proc/${pid}/task/`;
  for (const thread of readdirSync(process)) NANOSECONDS.set(process + thread, ofThread(process + thread));
  const ofProcess = [...NANOSECONDS].filter(([thread]) => thread.startsWith(process));
  return ofProcess.reduce((sum, [, one]) => sum + one, 0) / 1000;
}

/** What it had used before if it has ended since it was listed. */
function ofThread(folder: string): number {
  try {
    return Number(readFileSync(`${folder}/schedstat`, "latin1").split(" ", 1)[0]);
  } catch (error) {
    if (existsSync(folder)) throw error;
    return NANOSECONDS.get(folder) ?? 0;
  }
}

/** Ticks of 10 ms: the unit of this file on every Linux that Node runs on. */
const TICK_MICROSECONDS = 10_000;

/** utime and stime are fields 14 and 15; the name before them may hold spaces and parentheses. */
function fromStat(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS;
}

/** `[[dd-]hh:]mm:ss.cc` */
function fromPs(pid: number): number {
  const { stdout } = spawnSync("ps", ["-o", "cputime=", "-p", String(pid)], { encoding: "utf8" });
  const parts = stdout.trim().split(/[:-]/).map(Number);
  const seconds = parts.reduce((sum, part, at) => sum * (parts.length - at === 3 && at > 0 ? 24 : 60) + part, 0);
  if (!(seconds > 0)) throw new Error(`ps does not know process ${pid}`);
  return seconds * 1_000_000;
}
