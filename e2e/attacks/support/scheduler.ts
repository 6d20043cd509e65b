/**
 * Concurrent requests that interleave in every order sooner or later: each wait for the store is an
 * event of the simulator's scheduler, and which one comes next is left to chance.
 */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { createScheduler, type Event } from "../../simulation/world/scheduler.ts";
import type { Seeded } from "../../support/seeded.ts";

/**
 * From now on every read and write of the store waits for its turn, before and after.
 *
 * @returns gives turns until the work has ended, and returns their order as one text: `a` for the
 *   first record, `b` for the next
 */
export function scheduleStore(records: RecordStore, seeded: Seeded): (work: () => Promise<unknown>) => Promise<string> {
  let isRunning = false;
  let order: Event["touch"][] = [];
  const scheduler = createScheduler((due) => {
    const next = seeded.pick(due);
    order.push(next.touch);
    return next;
  });
  const turn = async (process: string, place: string): Promise<void> => {
    if (isRunning) await scheduler.wait(0, { process, place, isRead: false });
  };
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
  return async (work) => {
    [isRunning, order] = [true, []];
    const ended = work().finally(() => (isRunning = false));
    ended.catch(() => undefined);
    await scheduler.run(
      () => !isRunning,
      () => undefined,
    );
    await ended;
    const names = [...new Set(order.map((one) => one?.process))];
    return order.map((one) => `${"abcdef"[names.indexOf(one?.process)]}:${one?.place}`).join(" ");
  };
}
