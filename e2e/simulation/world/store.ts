/**
 * One store that several processes share, as far away as a database in a network: each call arrives
 * after a while and is answered after another. It may be refused before it is done, done without an
 * answer, or find the store away.
 */
import { type Clock, OAuthError, type RecordKey, type RecordStore } from "@oauth-broker/oauth-core";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { currentRequest } from "../invariants/promises.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** Takes a defence away, to see the simulator find it. */
export type Weaken = (store: RecordStore) => RecordStore;

export interface SharedStore {
  /** The store as one process sees it, by its own clock. */
  of(process: string, now: Clock): RecordStore;
  /** Every call fails until then. */
  goAway(untilMs: number): void;
  /**
   * By an attacker who can write the table: the newest flows are put back to an earlier stage, so that what was used
   * could be used again.
   *
   * @param only those in this stage; default: any
   */
  rewriteFlows(only?: string): Promise<void>;
}

interface StoreParts {
  readonly scheduler: Scheduler;
  /** Absent: calls are answered at once and without faults, in the order the scheduler chooses. */
  readonly faults: (() => Random | undefined) | undefined;
  readonly tell: (line: string) => void;
  readonly weaken: Weaken;
}

export function createSharedStore({ scheduler, faults, tell, weaken }: StoreParts): SharedStore {
  let clock: Clock = () => 0;
  let awayUntilMs = 0;
  const flows: RecordKey[] = [];
  // It reads the clock before its first await, so each call is decided by its caller's.
  const store = weaken(memoryRecordStore({ now: () => clock() }));

  /** @returns the milliseconds of one way */
  const way = (random: Random | undefined): number => {
    if (random === undefined) return 0;
    return random.happens(3) ? 200 + random.below(2_000) : 1 + random.below(30);
  };

  const call = <T>(what: string, now: Clock, make: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const random = faults?.();
      const request = currentRequest.getStore();
      const fail = (why: string): void => {
        tell(`${what}: ${why}`);
        if (request !== undefined) request.isLetDown = true;
        const error = new OAuthError("temporarily_unavailable", "The record store does not respond", {
          reason: "store_unavailable",
        });
        scheduler.later(way(random), () => reject(error));
      };
      const arrive = (): void => {
        if (scheduler.nowMs() < awayUntilMs) return fail("the store is away");
        if (random?.happens(3) === true) return fail("throttled, nothing done");
        clock = now;
        const isLost = random?.happens(3) === true;
        make().then((result) => {
          if (isLost) return fail("done, and the answer is lost");
          tell(`${what}: ${outcomeOf(result)}`);
          if (random === undefined) return resolve(result);
          return scheduler.later(way(random), () => resolve(result));
        }, reject);
      };
      scheduler.later(way(random), arrive);
    });

  return {
    of: (process, now) => {
      const name = (operation: string, kind: string): string => `${process} asks the store to ${operation} ${kind}`;
      return {
        get: (key, options) => call(name("read", key.kind), now, () => store.get(key, options)),
        create: (record) => {
          if (record.key.kind === "flow") flows.push(record.key);
          return call(name("create", record.key.kind), now, () => store.create(record));
        },
        advance: (key, from, patch) =>
          call(`${name("move", key.kind)} from ${from.stage} to ${patch.stage}`, now, () =>
            store.advance(key, from, patch),
          ),
        delete: (key) => call(name("delete", key.kind), now, () => store.delete(key)),
        ping: () => call(name("answer", ""), now, () => store.ping()),
        close: async () => {},
      };
    },
    rewriteFlows: async (only) => {
      for (const key of flows.slice(-3)) {
        const record = await store.get(key);
        const stage = record === undefined ? undefined : EARLIER[record.stage];
        if (record === undefined || stage === undefined || record.stage !== (only ?? record.stage)) continue;
        tell(`the attacker writes the table: a flow goes from ${record.stage} back to ${stage}`);
        void store.delete(key);
        await store.create({ ...record, stage });
      }
    },
    goAway: (untilMs) => {
      awayUntilMs = untilMs;
      tell(`the store goes away for ${Math.round((untilMs - scheduler.nowMs()) / 1000)} s`);
    },
  };
}

const EARLIER: Readonly<Record<string, string>> = { started: "pushed", parked: "started", spent: "parked" };

function outcomeOf(result: unknown): string {
  if (typeof result === "string") return result;
  if (result === undefined) return "nothing there";
  const { outcome, stage } = result as { readonly outcome?: string; readonly stage?: string };
  return outcome ?? `in stage ${stage ?? "?"}`;
}
