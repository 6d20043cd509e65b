/** How much of everything a run has. */

/** The size for the page on capacity. */
export const FULL = {
  /** Flows per subject and round. */
  flows: 2000,
  rounds: 9,
  /** Flows per process before the first round, at most. */
  warmUp: 15_000,
  /** Flows at once, for each process. */
  atOnce: 32,
  /** The same four for subjects on the DynamoDB engine of this machine, which is slow. */
  onEngine: { flows: 600, rounds: 9, warmUp: 6000, atOnce: 8 },
  /** Records in the store at the start; the first is what the others are compared with. */
  records: [1_000, 10_000, 100_000, 1_000_000],
  /** Processes on one store. */
  processes: 4,
  /** Clients, and as many vendors. */
  entries: 1000,
  /** How often a broker starts for the time that takes. */
  starts: 5,
  connections: 1000,
  /** Connections in use, beside `connections` that are idle. */
  busy: 200,
  /** Flows whose users are at the vendor. */
  waiting: 10_000,
  /** Of each kind of operation whose charges are counted. */
  charged: 20,
  /** See due.ts. */
  due: {
    users: 1000,
    vendors: 3,
    /** Refreshes that a vendor allows. */
    perSecond: 5,
    /** The lifetime of the first access tokens. */
    lifetimeSeconds: 180,
    /** A user whose call passed waits about so long before the next. */
    pauseMs: 4000,
    /** The run fails after that. */
    mostSeconds: 600,
  },
};

export type Size = Readonly<typeof FULL>;
/** What a comparison of subjects needs of it. */
export type Measured = Pick<Size, "flows" | "rounds" | "warmUp">;
