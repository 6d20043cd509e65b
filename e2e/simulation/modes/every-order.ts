/**
 * The model check on the code itself: a small scenario, run once for every order in which the
 * answers of the store, of the vendor and of the key service can come. Nothing is late or lost
 * here; what is explored is who comes first, at every step. Orders that differ only in which of two
 * independent answers is first are one: two processes that read, or that use different records, see
 * nothing of each other.
 */
import type { Promises } from "../invariants/promises.ts";
import type { Choose, Event, Scheduler } from "../world/scheduler.ts";
import type { Weaken } from "../world/store.ts";
import { runToEnd } from "./run-world.ts";

/** A scenario in the world that was made for one order of it. */
export interface Stage {
  readonly scheduler: Scheduler;
  readonly promises: Promises;
  readonly story: readonly string[];
  /** @returns the requests that race, and what has to be true of their answers */
  prepare(): Promise<() => Promise<void>>;
  close?(): Promise<void>;
}

/** @param weaken the store of a scenario that has records */
export type Scenario = (choose: Choose, weaken?: Weaken) => Promise<Stage>;

/** One choice of a run: which of how many. */
interface Taken {
  readonly index: number;
  readonly count: number;
}

/**
 * @param most of orders; more than that is an error of the scenario, which is too large
 * @returns how many orders there are; promises and story are of the first that broke one
 */
export async function runEveryOrder(
  scenario: Scenario,
  { weaken, most = 30_000 }: { readonly weaken?: Weaken; readonly most?: number } = {},
) {
  let orders = 0;
  let way: readonly number[] | undefined = [];
  while (way !== undefined) {
    const { taken, broken, story, isKnown } = await runOrder(scenario, way, weaken);
    if (!isKnown) orders += 1;
    if (broken.length > 0) return { orders, broken, story };
    if (orders > most) return { orders, broken: [`more than ${most} orders`], story: [] };
    way = nextWay(taken);
  }
  return { orders, broken: [], story: [] };
}

/** @returns `isKnown`: it was cut off, because it goes on as another does that was run */
async function runOrder(scenario: Scenario, way: readonly number[], weaken: Weaken | undefined) {
  const taken: Taken[] = [];
  let [isExploring, isKnown] = [false, false];
  // What was run first in this place before, and has met nothing since that it could matter to.
  let asleep: readonly Event[] = [];
  const choose: Choose = (due) => {
    if (!isExploring) return due[0];
    const awake = due.filter((event) => !asleep.includes(event));
    const index = way[taken.length] ?? 0;
    const next = awake[index];
    isKnown = awake.length === 0;
    if (isKnown) return undefined;
    if (next === undefined) throw new Error("the same choices led elsewhere");
    taken.push({ index, count: awake.length });
    asleep = [...asleep, ...awake.slice(0, index)].filter((event) => isIndependent(event, next));
    return next;
  };
  const stage = await scenario(choose, weaken);
  const { promises, story } = stage;
  let race: (() => Promise<void>) | undefined;
  await runToEnd(stage, async () => {
    race = await stage.prepare();
  });
  isExploring = true;
  if (race !== undefined) await runToEnd(stage, race, () => isKnown);
  await stage.close?.();
  return { taken, broken: promises.broken(), story, isKnown };
}

function isIndependent({ touch: one }: Event, { touch: other }: Event): boolean {
  if (one === undefined || other === undefined || one.process === other.process) return false;
  const isApart = !one.place.startsWith(other.place) && !other.place.startsWith(one.place);
  return isApart || (one.isRead && other.isRead);
}

/** The same choices but the last that has another possibility. @returns undefined after the last way */
function nextWay(taken: readonly Taken[]): readonly number[] | undefined {
  const last = taken.findLastIndex(({ index, count }) => index + 1 < count);
  const turn = taken[last];
  if (turn === undefined) return undefined;
  return [...taken.slice(0, last).map(({ index }) => index), turn.index + 1];
}
