/** Subjects that are servers, each in its own process on loopback, measured over 32 connections if there is work for all. */
import { inLanes, LANES } from "../lanes.ts";
import { measureCpu } from "../machine.ts";
import type { ServiceProcess } from "../../support/service-process.ts";
import type { Subject } from "../rounds.ts";
import { quantileOf } from "../spread.ts";
import type { Stage } from "../stage.ts";

/** One connection that repeats its operation. */
export interface Lane {
  /** @throws Error when an answer is wrong */
  run(): Promise<unknown>;
  close(): Promise<void>;
}

export interface Served extends Pick<Subject, "name" | "comparisons"> {
  readonly server: ServiceProcess;
  /** Its part of the operations that are asked for; default 1. */
  readonly share?: number;
  openLane(number: number): Promise<Lane>;
}

/** @returns flags of Node.js, for a server that leaves a CPU profile there when it stops */
export function watched(profile: string, folder: string | undefined): string[] {
  if (folder === undefined) return [];
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${profile}.cpuprofile`];
}

export function servedSubject({ server, share = 1, openLane, ...subject }: Served, stage: Stage): Subject {
  const lanes: Lane[] = [];
  stage.add({ stop: async () => void (await Promise.all(lanes.map((lane) => lane.close()))) });
  return {
    ...subject,
    measure: async (asked) => {
      const count = Math.ceil(asked * share);
      // One by one: an engine behind it may be slow, and this is not what is measured.
      while (lanes.length < Math.min(LANES, count)) lanes.push(await openLane(lanes.length));
      // Each connection is open again before the first operation that is measured.
      await Promise.all(lanes.map((lane) => lane.run()));
      const milliseconds: number[] = [];
      const measured = await measureCpu([server.pid], count, () =>
        inLanes(lanes.length, count, async (at) => {
          const startedAt = performance.now();
          await lanes[at]?.run();
          milliseconds.push(performance.now() - startedAt);
        }),
      );
      return { ...measured, p99Milliseconds: quantileOf(milliseconds, 0.99) };
    },
  };
}
