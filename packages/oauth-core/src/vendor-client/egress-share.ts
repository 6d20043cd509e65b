/**
 * Whose an outbound call is, and when its turn comes. At one origin a caller has at most half of the connections, and those who
 * wait are served caller by caller: no caller's calls wait for all of another's.
 * Before it: a service says for whom it works (`onBehalfOf`). Called by egress.ts, once for each exchange.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { egressError } from "./egress-error.ts";

/** A request's own account of itself; its client may become known on the way. */
export interface Caller {
  readonly clientId?: string;
}

const callers = new AsyncLocalStorage<Caller>();

/** Outbound calls of `work`, and of all it starts, count for this caller. */
export function onBehalfOf<T>(caller: Caller, work: () => T): T {
  return callers.run(caller, work);
}

/** @returns empty for calls on behalf of no client: together they are one caller */
export function callerName(): string {
  return callers.getStore()?.clientId ?? "";
}

export const CONNECTIONS_PER_ORIGIN = 100;
const CONNECTIONS_PER_CALLER = CONNECTIONS_PER_ORIGIN / 2;
/** Under way or waiting. */
const CALLS_PER_CALLER = 1_000;

export interface Turn {
  /** For waiting and call together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The calls to one origin. */
export interface Turns {
  /**
   * Makes the call when a connection is free that this caller may have.
   *
   * @param call gets the milliseconds that are left for it
   * @throws EgressError with `sent: false` when the caller has too many calls, when time is over or the signal fires
   */
  run<T>(caller: string, turn: Turn, call: (leftMs: number) => Promise<T>): Promise<T>;
  /** Resolves when no call is under way or waiting. */
  idle(): Promise<void>;
}

/** One caller's calls. */
interface Lane {
  running: number;
  /** Each begins one call. */
  readonly waiting: Set<() => void>;
}

/** @param origin for `detail` */
export function createTurns(origin: string): Turns {
  // In order of service: the first caller has waited longest for a turn.
  const lanes = new Map<string, Lane>();
  const untilIdle: (() => void)[] = [];
  let running = 0;

  const mayBegin = (lane: Lane): boolean =>
    //= bar#ST-8
    running < CONNECTIONS_PER_ORIGIN && lane.running < CONNECTIONS_PER_CALLER;

  const begin = (lane: Lane): void => {
    running += 1;
    lane.running += 1;
  };

  const laneOf = (caller: string): Lane => {
    const known = lanes.get(caller);
    if (known !== undefined) return known;
    const lane: Lane = { running: 0, waiting: new Set() };
    lanes.set(caller, lane);
    return lane;
  };

  const dropIfEmpty = (caller: string, lane: Lane): void => {
    if (lane.running > 0 || lane.waiting.size > 0) return;
    lanes.delete(caller);
    if (lanes.size === 0) for (const resolve of untilIdle.splice(0)) resolve();
  };

  /** One place has become free, so at most one call begins. */
  const serveNext = (): void => {
    for (const [caller, lane] of lanes) {
      const [next] = lane.waiting;
      if (next === undefined || !mayBegin(lane)) continue;
      lanes.delete(caller);
      lanes.set(caller, lane);
      begin(lane);
      next();
      return;
    }
  };

  /** @returns the milliseconds that are left when the turn has come */
  const waitForTurn = (caller: string, lane: Lane, { timeoutMs, signal }: Turn): Promise<number> => {
    const since = performance.now();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        lane.waiting.delete(start);
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const start = (): void => {
        settle();
        resolve(timeoutMs - (performance.now() - since));
      };
      const giveUp = (what: string): void => {
        settle();
        dropIfEmpty(caller, lane);
        reject(egressError("timeout", false, `${origin}: ${what}`));
      };
      const onAbort = (): void => giveUp("aborted by the caller");
      const timer = setTimeout(giveUp, timeoutMs, `no turn within ${timeoutMs} ms`);
      signal?.addEventListener("abort", onAbort, { once: true });
      lane.waiting.add(start);
    });
  };

  return {
    run: async (caller, turn, call) => {
      const lane = laneOf(caller);
      if (lane.running + lane.waiting.size >= CALLS_PER_CALLER) {
        throw egressError("connect", false, `${origin}: too many calls under way`);
      }
      let leftMs = turn.timeoutMs;
      if (mayBegin(lane)) begin(lane);
      else leftMs = await waitForTurn(caller, lane, turn);
      try {
        if (leftMs <= 0) throw egressError("timeout", false, `${origin}: no time left when the turn came`);
        return await call(leftMs);
      } finally {
        running -= 1;
        lane.running -= 1;
        serveNext();
        dropIfEmpty(caller, lane);
      }
    },
    idle: () => (lanes.size === 0 ? Promise.resolve() : new Promise((resolve) => untilIdle.push(resolve))),
  };
}
