/** How much of everything a run has: `FULL` gives figures, `SMALL` only shows that all of it works. */

export interface Size {
  /** Flows per subject and round. */
  readonly flows: number;
  readonly rounds: number;
  /** Flows per process before the first round, at most. */
  readonly warmUp: number;
  /** Flows at once, for each process. */
  readonly atOnce: number;
  /** The same four for subjects on the DynamoDB engine of this machine, which is slow. */
  readonly onEngine: Pick<Size, "flows" | "rounds" | "warmUp" | "atOnce">;
  /** Records in the store at the start; the first is what the others are compared with. */
  readonly records: readonly number[];
  /** Processes on one store. */
  readonly processes: number;
  /** Clients, and as many vendors. */
  readonly entries: number;
  /** How often a broker starts for the time that takes. */
  readonly starts: number;
  readonly connections: number;
  /** Of connections that are in use beside as many as that which are idle. */
  readonly busy: number;
  /** Flows whose users are at the vendor. */
  readonly waiting: number;
  /** Of each kind of operation whose charges are counted. */
  readonly charged: number;
  readonly due: DueSize;
}

/** See due.ts. */
export interface DueSize {
  readonly users: number;
  readonly vendors: number;
  /** Refreshes that a vendor allows. */
  readonly perSecond: number;
  /** The lifetime of the first access tokens. */
  readonly lifetimeSeconds: number;
  /** A user whose call passed waits about so long before the next. */
  readonly pauseMs: number;
  /** The run fails after that. */
  readonly mostSeconds: number;
}

/** The size for the page on capacity. */
export const FULL: Size = {
  flows: 2000,
  rounds: 9,
  warmUp: 15_000,
  atOnce: 32,
  onEngine: { flows: 600, rounds: 9, warmUp: 6000, atOnce: 8 },
  records: [1_000, 10_000, 100_000, 1_000_000],
  processes: 4,
  entries: 1000,
  starts: 5,
  connections: 1000,
  busy: 200,
  waiting: 10_000,
  charged: 20,
  due: { users: 1000, vendors: 3, perSecond: 5, lifetimeSeconds: 180, pauseMs: 4000, mostSeconds: 600 },
};

/** @returns `FULL`, measured more or less often */
export function sizeOf({ flows, rounds, warmUp }: Pick<Size, "flows" | "rounds" | "warmUp">): Size {
  const onEngine = { ...FULL.onEngine, flows: Math.ceil(flows * 0.3), rounds, warmUp: Math.ceil(warmUp * 0.4) };
  return { ...FULL, flows, rounds, warmUp, onEngine };
}

/** The size for the tests. */
export const SMALL: Size = {
  flows: 20,
  rounds: 1,
  warmUp: 0,
  atOnce: 8,
  onEngine: { flows: 8, rounds: 1, warmUp: 0, atOnce: 2 },
  records: [50, 500],
  processes: 2,
  entries: 20,
  starts: 1,
  connections: 80,
  busy: 16,
  waiting: 100,
  charged: 5,
  due: { users: 24, vendors: 2, perSecond: 3, lifetimeSeconds: 6, pauseMs: 1000, mostSeconds: 60 },
};
