/**
 * A retry of a call whose user is still in the browser: the retry waits there for a while, so that
 * a client which retries at once does not ask the user again and again.
 */
import type { CallerLinks, TicketState } from "../../mode.ts";
import type { ElicitationDeps } from "./deps.ts";
import type { AskedTicket } from "./request-state.ts";

/** How the tickets of a retry stand after waiting. */
export interface Waited {
  /** The tickets that the user has neither finished nor left. */
  readonly open: readonly AskedTicket[];
  /** The vendors that the user denied. */
  readonly denied: readonly string[];
}

const POLL_MS = 1_000;
/** The limit for one user, in this process: each holds a connection and reads the table. */
const MOST_WAITING = 5;

/** @returns waits until all tickets are decided, the time is over, the client has left, or this process stops */
export function createWaiting({
  elicitationWaitSeconds,
  now,
  pause,
  stopping,
}: ElicitationDeps): (
  asked: readonly AskedTicket[],
  user: string,
  links: CallerLinks,
  signal: AbortSignal,
) => Promise<Waited> {
  const waiting = new Map<string, number>();
  return async (asked, user, links, left) => {
    const signal = AbortSignal.any([left, stopping]);
    const until = now() + elicitationWaitSeconds;
    const before = waiting.get(user) ?? 0;
    waiting.set(user, before + 1);
    try {
      for (;;) {
        const states = await Promise.all(
          asked.map(async (ticket) => ({ ticket, state: await links.ticketState(ticket.id) })),
        );
        const ticketsIn = (...ones: TicketState[]) =>
          states.filter(({ state }) => ones.includes(state)).map(({ ticket }) => ticket);
        const denied = ticketsIn("denied").map(({ vendor }) => vendor);
        const open = ticketsIn("open", "approved");
        const isOver = now() >= until || before >= MOST_WAITING || signal.aborted;
        if (open.length === 0 || denied.length > 0 || isOver) return { open, denied };
        await pause(POLL_MS, signal);
      }
    } finally {
      const others = (waiting.get(user) ?? 1) - 1;
      if (others > 0) waiting.set(user, others);
      else waiting.delete(user);
    }
  };
}
