/**
 * Assigns outbound calls to callers, and decides when each call's turn comes. At one origin a
 * caller has at most half of the connections, and waiting calls are served caller by caller. A
 * service names the caller with `onBehalfOf`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { systemTimer } from "../mechanics/system-timer.ts";
import { createTurns, type Turns } from "../mechanics/turns.ts";
import { egressError } from "./errors.ts";

/** The client of a request; it may become known only while the request is handled. */
export interface Caller {
  readonly clientId?: string;
}

/** Undefined outside of `onBehalfOf`. */
interface CallsFor {
  readonly caller: Caller;
  /** Does something when the work for this caller has ended. */
  readonly atEnd: (action: () => void) => void;
}

const callsFor = new AsyncLocalStorage<CallsFor>();

/**
 * Outbound calls of `work`, and of everything it starts, are charged to this caller; the answers
 * they fetch, until it has ended.
 */
export function onBehalfOf<T>(caller: Caller, work: () => T): T {
  let actions: (() => void)[] | undefined = [];
  const atEnd = (action: () => void): void => {
    if (actions === undefined) action();
    else actions.push(action);
  };
  const end = (): void => {
    for (const action of actions ?? []) action();
    actions = undefined;
  };
  const result = callsFor.run({ caller, atEnd }, work);
  if (result instanceof Promise) void result.then(end, end);
  else end();
  return result;
}

/** @returns empty for calls on behalf of no client: together they count as one caller */
export function callerName(): string {
  return callsFor.getStore()?.caller.clientId ?? "";
}

/** Does something when the work for the caller has ended. @returns undefined outside of `onBehalfOf` */
export function atEndOfCaller(): ((action: () => void) => void) | undefined {
  return callsFor.getStore()?.atEnd;
}

export const CONNECTIONS_PER_ORIGIN = 100;
const CONNECTIONS_PER_CALLER = CONNECTIONS_PER_ORIGIN / 2;
/** Under way or waiting. */
const CALLS_PER_CALLER = 1_000;

/**
 * The calls to one origin: a lane is a caller, and a turn's time covers waiting and call together.
 * Throws an EgressError with `sent: false`.
 *
 * @param origin for `detail`
 */
export function createOriginTurns(origin: string): Turns {
  return createTurns({
    most: CONNECTIONS_PER_ORIGIN,
    //= bar#ST-8
    mostOfLane: () => CONNECTIONS_PER_CALLER,
    mostInLane: CALLS_PER_CALLER,
    timer: systemTimer,
    refusal: (why) =>
      why === "full"
        ? egressError("connect", false, `${origin}: too many calls under way`)
        : egressError("timeout", false, `${origin}: ${why === "late" ? "no turn in time" : "aborted by the caller"}`),
  });
}
