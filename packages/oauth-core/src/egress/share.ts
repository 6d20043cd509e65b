/**
 * Whose an outbound call is, and when its turn comes. At one origin a caller has at most half of
 * the connections, and those who wait are served caller by caller. A service says for whom it works
 * with `onBehalfOf`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createTurns, type Turns } from "../mechanics/turns.ts";
import { egressError } from "./errors.ts";

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

/**
 * The calls to one origin: a lane is a caller, a turn's time is for waiting and call together. What
 * it throws is an EgressError with `sent: false`.
 *
 * @param origin for `detail`
 */
export function createOriginTurns(origin: string): Turns {
  return createTurns({
    most: CONNECTIONS_PER_ORIGIN,
    //= bar#ST-8
    mostOfLane: () => CONNECTIONS_PER_CALLER,
    mostInLane: CALLS_PER_CALLER,
    refusal: (why) =>
      why === "full"
        ? egressError("connect", false, `${origin}: too many calls under way`)
        : egressError("timeout", false, `${origin}: ${why === "late" ? "no turn in time" : "aborted by the caller"}`),
  });
}
