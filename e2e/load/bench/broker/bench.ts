/**
 * The bench: CPU time per whole flow and per refresh of the built broker, on either store, in one
 * run side by side with the floor. Every process stays up for the whole run; each round measures
 * every subject once, in turn.
 */
import {
  type BuildComparison,
  compareBuilds,
  compareWithAims,
  type AimResult,
  type Figures,
  figuresOf,
  type Round,
} from "./figures.ts";
import type { OtherBuild } from "../../against.ts";
import { describeMachine } from "../../machine.ts";
import { type BrokerMeasurement, CONNECTIONS, measure } from "./measure.ts";
import { type Work, WORKS } from "./works.ts";
import { measureRounds } from "../../rounds.ts";
import { requireChecks } from "./probe.ts";
import { type BySubject, startSubjects, subjectsOf, type Subjects } from "./subjects.ts";

export interface BenchOptions {
  /** Flows, and refreshes, per subject and round. */
  readonly flows: number;
  readonly rounds: number;
  /** Flows, and refreshes, per subject before the first round, at most: see rounds.ts. */
  readonly warmUp: number;
  readonly profileFolder?: string;
  /** Measured alternately with this one, in the same rounds. */
  readonly against?: OtherBuild;
}

export interface BenchResults extends Pick<BenchOptions, "flows" | "rounds"> {
  /** Flows, and refreshes, that it took. */
  readonly warmUp: number;
  readonly connections: number;
  readonly node: string;
  readonly machine: string;
  /** Under a profiler everything is slower, and not by the same factor. */
  readonly profiled: boolean;
  readonly figures: Figures;
  readonly aims: readonly AimResult[];
  /** This build against that of another commit; empty without one. */
  readonly comparisons: readonly BuildComparison[];
  readonly against?: string;
  readonly measurements: readonly Round[];
}

/**
 * @param say prints a line of progress
 * @throws Error when a process ends, or an answer is wrong
 */
export async function runBench(options: BenchOptions, say: (line: string) => void): Promise<BenchResults> {
  const { profileFolder, against } = options;
  const subjects = await startSubjects({ profileFolder, bundleBefore: against?.bundle });
  const { flows, rounds } = options;
  try {
    for (const server of Object.values(subjects.servers)) await requireChecks(server.url, subjects.parties);
    await requireChecks(subjects.servers.memory.url, subjects.openidParties);
    // Alternately, as in the rounds: optimizations for refreshes may undo those for flows.
    const { measurements, warmUp } = await measureRounds(
      { count: flows, rounds, warmUp: options.warmUp },
      (count, _, report) => runRound(subjects, count, report),
      costsOf,
      say,
    );
    const figures = figuresOf(measurements);
    return {
      flows,
      rounds,
      warmUp,
      connections: CONNECTIONS,
      node: process.version,
      machine: describeMachine(),
      profiled: profileFolder !== undefined,
      figures,
      aims: compareWithAims(figures),
      comparisons: compareBuilds(measurements),
      ...(against === undefined ? {} : { against: against.commit }),
      measurements,
    };
  } finally {
    await subjects.stop();
  }
}

/** By work and subject, for the warm-up. */
function costsOf(round: Round): Record<string, number> {
  return Object.fromEntries(
    WORKS.flatMap((work) =>
      Object.entries(round[work]).map(([name, { cpuMicroseconds }]) => [`${work} ${name}`, cpuMicroseconds]),
    ),
  );
}

async function runRound(subjects: Subjects, count: number, say: (line: string) => void): Promise<Round> {
  const { servers } = subjects;
  const ofWork = async (work: Work): Promise<BySubject<BrokerMeasurement>> => {
    const measured: Record<string, BrokerMeasurement> = {};
    for (const name of subjectsOf(servers, work)) {
      const server = servers[name];
      if (server === undefined) continue;
      const one = await measure(server, subjects, { work, count });
      const [cpu, vendor] = [one.cpuMicroseconds, one.vendorMicroseconds].map((time) => time.toFixed(0).padStart(6));
      say(`${work.padEnd(12)} ${name.padEnd(13)} ${cpu} µs, vendor ${vendor} µs`);
      measured[name] = one;
    }
    return measured as BySubject<BrokerMeasurement>;
  };
  const round: Partial<Record<Work, BySubject<BrokerMeasurement>>> = {};
  for (const work of WORKS) round[work] = await ofWork(work);
  return round as Round;
}
