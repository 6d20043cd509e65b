/**
 * Reconnect events: when a link dies or is back, the receiver gets a signed event, at least once.
 * A request only notes what it saw; rounds in the background keep it in the outbox and send what is
 * due. What is noted and not kept yet ends with the process: the next use of the dead link notes
 * it again.
 */
import { createExpiringMap, type Timer } from "@oauth-broker/oauth-core";
import { errorFields, type Log } from "../log.ts";
import { startSweep } from "../start-sweep.ts";
import { deliver, type DeliverDeps } from "./deliver.ts";
import {
  createOutbox,
  type LinkChange,
  type LinkEvent,
  OUTBOX_LIMITS,
  type OutboxDeps,
  type OutboxLimits,
} from "./outbox.ts";

/** What happened to links, for the receiver of events. */
export interface LinkEvents {
  /** Returns at once and never throws: it is called while a user waits. */
  note(change: LinkChange): void;
  /** One round: keeps what was noted, then sends what is due. Each failure is a line of the log. */
  sweep(stopping?: AbortSignal): Promise<void>;
}

/** What events need from the service that reports them. */
export interface LinkEventsDeps extends DeliverDeps, Pick<OutboxDeps, "records"> {
  /** Whose links there are. */
  readonly vendors: () => Promise<Iterable<string>> | Iterable<string>;
  readonly log: Log;
}

const AT_ONCE = 10;
const MOST_NOTED = 1_000;
const NOTED_SECONDS = 60;

/** @param limits tests pass smaller ones */
export function createLinkEvents(deps: LinkEventsDeps, limits: OutboxLimits = OUTBOX_LIMITS): LinkEvents {
  const { records, now, log, vendors } = deps;
  const onDropped: OutboxDeps["onDropped"] = (vendor, reason, count) =>
    log.warn("link_event_dropped", { vendor, reason, count });
  const outbox = createOutbox({ records, now, onDropped }, limits);
  const noted = new Map<string, LinkChange>();
  /** A dead link is seen at every call of its user. */
  const recent = createExpiringMap<string>(MOST_NOTED, now);

  const keep = async (): Promise<void> => {
    for (const [link, change] of noted) {
      await outbox.keep(change);
      if (change.type === "link.dead") recent.set(link, change.grant, now() + NOTED_SECONDS);
      else recent.delete(link);
      if (noted.get(link) === change) noted.delete(link);
    }
  };
  const send = async (event: LinkEvent): Promise<LinkEvent | undefined> => {
    const { vendor } = event;
    try {
      const status = await deliver(event, deps);
      if (status >= 200 && status <= 299) return event;
      log.warn("link_event_not_sent", { vendor, status });
    } catch (error) {
      log.warn("link_event_not_sent", { vendor, ...errorFields(error) });
    }
    return undefined;
  };
  const sendDue = async (vendor: string, stopping: AbortSignal | undefined): Promise<void> => {
    for (;;) {
      if (stopping?.aborted === true) return;
      const due = await outbox.claim(vendor, AT_ONCE);
      const arrived = (await Promise.all(due.map(send))).filter((event) => event !== undefined);
      await outbox.settle(vendor, arrived);
      // A receiver that is down gets no more in this round.
      if (due.length < AT_ONCE || arrived.length < due.length) return;
    }
  };

  return {
    note: (change) => {
      const link = JSON.stringify([change.vendor, change.user]);
      if (change.type === "link.dead" && recent.get(link) === change.grant) return;
      if (noted.size >= MOST_NOTED && !noted.has(link)) log.warn("link_event_dropped", { vendor: change.vendor });
      else noted.set(link, change);
    },
    sweep: async (stopping) => {
      try {
        await keep();
        for (const vendor of await vendors()) await sendDue(vendor, stopping);
      } catch (error) {
        // The store is down: the next round tries again.
        log.warn("link_events_not_swept", errorFields(error));
      }
    },
  };
}

const ROUND_MS = 5_000;

/** Sends what is due, round after round. @returns ends it; what was noted is then kept for the next process */
export function startLinkEvents({ sweep }: LinkEvents, timer: Timer): () => Promise<void> {
  const end = startSweep(sweep, ROUND_MS, timer);
  return async () => {
    await end();
    await sweep(AbortSignal.abort());
  };
}
