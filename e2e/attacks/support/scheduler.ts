/**
 * Decides which caller proceeds next. Every wait for the outside (the store, a vendor) waits for
 * its turn here instead, and turns are given at random, so that concurrent requests interleave in
 * every order sooner or later.
 */
import { setImmediate as afterMicrotasks } from "node:timers/promises";
import type { RecordStore } from "@oauth-broker/oauth-core";
import type { Seeded } from "../../support/seeded.ts";

const MOST_TURNS = 10_000;

export type Scheduler = ReturnType<typeof createScheduler>;
export function createScheduler(seeded: Seeded) {
  const waiting: { readonly whose: string; readonly what: string; readonly go: () => void }[] = [];
  const running = { now: false };
  return {
    /**
     * Resolves when it is this caller's turn; at once while nothing is being run.
     *
     * @param whose any name of the waiting caller
     * @param what what it waits for; both only identify orders
     */
    turn: async (whose: string, what: string): Promise<void> => {
      if (running.now) await new Promise<void>((go) => void waiting.push({ whose, what, go }));
    },
    /**
     * Gives turns until `work` has ended.
     * @returns the order of the turns as one text: `a` for the first name, `b` for the next
     */
    run: async (work: Promise<unknown>): Promise<string> => {
      const names: string[] = [];
      const order: string[] = [];
      running.now = true;
      const ended = work.finally(() => {
        running.now = false;
      });
      ended.catch(() => undefined);
      for (let turns = 0; running.now && turns < MOST_TURNS; turns += 1) {
        await afterMicrotasks();
        const [next] = waiting.splice(seeded.below(waiting.length), 1);
        if (next === undefined) continue;
        if (!names.includes(next.whose)) names.push(next.whose);
        order.push(`${"abcdef"[names.indexOf(next.whose)] ?? "?"}:${next.what}`);
        next.go();
      }
      await ended;
      return order.join(" ");
    },
  };
}

/** From now on every read and write of the store waits for its turn, before and after. */
export function scheduleStore(records: RecordStore, { turn }: Scheduler): void {
  const { get, create, advance } = records;
  Object.assign(records, {
    get: async (...call: Parameters<RecordStore["get"]>) => {
      await turn(call[0].id, "get");
      const found = await get(...call);
      await turn(call[0].id, "got");
      return found;
    },
    create: async (...call: Parameters<RecordStore["create"]>) => {
      await turn(call[0].key.id, "create");
      return create(...call);
    },
    advance: async (...call: Parameters<RecordStore["advance"]>) => {
      await turn(call[0].id, call[2].stage);
      const moved = await advance(...call);
      await turn(call[0].id, `${call[2].stage}!`);
      return moved;
    },
  });
}
