/** One run of everything, from one number, with any program in the processes. */
import type { Random } from "../../support/seeded.ts";
import { withTextResponses } from "../world/answer.ts";
import type { Weaken } from "../world/store.ts";
import type { World } from "../world/world.ts";

export interface SeedOptions {
  readonly weaken?: Weaken;
  /** Default: the seed decides how many users there are; all others take part. */
  readonly actors?: readonly string[];
  /** The run is cut off there: a promise may break before, or not at all. */
  readonly mostEvents?: number;
}

export type RunSeed = (seed: number, options?: SeedOptions) => Promise<Outcome>;

/** Those of any world; not each has all of them. */
export const USERS: readonly string[] = ["anna", "bert", "cleo"];
/** Replays what it saw, and does what it can beside that. */
export const ATTACKER = "mallory";
/** What processes need goes away, and processes crash. */
const OUTAGES = "outages";
export const ACTORS: readonly string[] = [...USERS, ATTACKER, OUTAGES];

/** Of each deployment. */
const PROCESSES = 2;
/** Within the five seconds that leases allow for. */
const MOST_AHEAD_SECONDS = 2;

/** For each process, the seconds its clock is ahead. */
export function drawClocks(random: Random): readonly number[] {
  return Array.from({ length: PROCESSES }, () => random.below(MOST_AHEAD_SECONDS + 1));
}

export function drawActors(most: number, random: Random, { actors }: SeedOptions): readonly string[] {
  const drawn = [...USERS.slice(0, 1 + random.below(most)), ATTACKER, OUTAGES];
  return actors ?? drawn;
}

interface Run {
  readonly actors: readonly string[];
  readonly world: Pick<World, "scheduler" | "promises" | "endFaults" | "story"> & {
    readonly processes: Pick<World["processes"], "count" | "crash" | "close">;
  };
  readonly random: Random;
  /** What goes away in an outage. */
  readonly services: readonly { goAway(untilMs: number): void }[];
  /** Users and the attacker, as long as things fail. */
  live(): Promise<unknown>;
  /** The users, when nothing fails any more. */
  recover(): Promise<unknown>;
  /** Once all is over. */
  inspect?(): Promise<void>;
}

export type Outcome = Awaited<ReturnType<typeof runActors>>;
/** @returns `actors`: who took part; `events`: how many, up to the first broken promise or to the end */
export async function runActors(seed: number, run: Run, { mostEvents = Infinity }: SeedOptions) {
  const { actors, world } = run;
  const events = await runToEnd(
    world,
    () => liveTogether(run),
    (count) => count >= mostEvents,
  );
  await run.inspect?.();
  await world.processes.close();
  return { seed, actors, broken: world.promises.broken(), story: world.story, events };
}

async function liveTogether(run: Run): Promise<void> {
  const { actors, world } = run;
  let isOver = false;
  const living = run.live();
  if (actors.includes(OUTAGES)) void trouble(run, () => isOver);
  await living;
  isOver = true;
  world.endFaults();
  // As long as a lease may last that a crash has left.
  await world.scheduler.wait(40_000);
  await run.recover();
}

async function trouble({ world, random, services }: Run, isOver: () => boolean): Promise<void> {
  const { scheduler, processes } = world;
  for (;;) {
    await scheduler.wait(10_000 + random.below(50_000));
    if (isOver()) return;
    const service = services[random.below(services.length + 1)];
    if (service === undefined) await processes.crash(random.below(processes.count));
    else service.goAway(scheduler.nowMs() + random.below(8_000));
  }
}

/**
 * Runs events until the program is over; what it throws breaks a promise too.
 *
 * @param isCutOff after so many events
 * @returns how many there were
 */
export async function runToEnd(
  world: Pick<World, "scheduler" | "promises">,
  program: () => Promise<void>,
  isCutOff: (events: number) => boolean = () => false,
): Promise<number> {
  let isOver = false;
  let events = 0;
  // Errors are answers here, and a story has no frames: capturing them takes a twentieth of a run.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const putBack = withTextResponses();
  const running = program()
    .catch((error: unknown) => world.promises.broke(`the simulation itself failed: ${String(error)}`))
    .finally(() => (isOver = true));
  const { scheduler, promises } = world;
  try {
    await scheduler.run(
      () => isOver || promises.broken().length > 0 || isCutOff(events),
      () => {
        events += 1;
        promises.checkBounds(scheduler.nowMs());
      },
    );
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    putBack();
  }
  if (promises.broken().length > 0 || isCutOff(events)) return events;
  if (!isOver) promises.broke("a request was never answered");
  else await running;
  return events;
}
