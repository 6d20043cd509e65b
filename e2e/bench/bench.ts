/**
 * The bench: CPU time per whole flow and per refresh of the built broker, on either store, side by side in one run with
 * the floor. Everything stays up for the whole run; each round measures every subject once, in turn.
 */
import { availableParallelism, cpus } from "node:os";
import { type Figures, figuresOf, judge, type JudgedAim, type Round } from "./figures.ts";
import { CONNECTIONS, measure, type Measurement, type Work } from "./measure.ts";
import { requireChecks } from "./probe.ts";
import { startSubjects, type Subject, SUBJECTS, type Subjects } from "./subjects.ts";

export interface BenchOptions {
  /** Flows, and refreshes, per subject and round. */
  readonly flows: number;
  readonly rounds: number;
  /** Rounds before these that are not counted: the engine compiles what is hot over the first thousands of requests. */
  readonly warmUpRounds: number;
  readonly profileFolder?: string;
}

export interface BenchResults extends Pick<BenchOptions, "flows" | "rounds"> {
  readonly connections: number;
  readonly node: string;
  readonly machine: string;
  /** Under a profiler everything is slower, and not by the same factor. */
  readonly profiled: boolean;
  readonly figures: Figures;
  readonly aims: readonly JudgedAim[];
  readonly measurements: readonly Round[];
}

/** @param say takes a line of progress @throws Error when a process ends, or an answer is not as it must be */
export async function runBench(options: BenchOptions, say: (line: string) => void): Promise<BenchResults> {
  const subjects = await startSubjects(options.profileFolder);
  const measurements: Round[] = [];
  try {
    for (const name of SUBJECTS) await requireChecks(subjects.servers[name].url, subjects.parties);
    for (let round = 1 - options.warmUpRounds; round <= options.rounds; round += 1) {
      const title = round < 1 ? "warm-up" : `round ${round}/${options.rounds}`;
      const measured = await runRound(subjects, options.flows, (line) => say(`${title}  ${line}`));
      if (round >= 1) measurements.push(measured);
    }
  } finally {
    await subjects.stop();
  }
  const figures = figuresOf(measurements);
  const { flows, rounds, profileFolder } = options;
  return {
    flows,
    rounds,
    connections: CONNECTIONS,
    node: process.version,
    machine: `${process.platform} ${process.arch}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? "unknown"}`,
    profiled: profileFolder !== undefined,
    figures,
    aims: judge(figures),
    measurements,
  };
}

async function runRound({ servers, parties }: Subjects, count: number, say: (line: string) => void): Promise<Round> {
  const ofWork = async (work: Work): Promise<Record<Subject, Measurement>> => {
    const ofSubject = async (name: Subject): Promise<Measurement> => {
      const measured = await measure(servers[name], parties, { work, count });
      say(`${work.padEnd(8)} ${name.padEnd(7)} ${measured.cpuMicroseconds.toFixed(0).padStart(6)} µs`);
      return measured;
    };
    return { floor: await ofSubject("floor"), memory: await ofSubject("memory"), sqlite: await ofSubject("sqlite") };
  };
  return { flow: await ofWork("flow"), refresh: await ofWork("refresh") };
}
