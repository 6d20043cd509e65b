/**
 * The model check on the code itself: a small scenario, run once for every order in which the
 * answers of the store and of the vendor can come. Nothing is late or lost here; what is explored
 * is who comes first, at every step.
 */
import { clientNamed } from "../world/processes.ts";
import { runToEnd } from "./run-seed.ts";
import type { Scenario } from "./scenarios.ts";
import type { Weaken } from "../world/store.ts";
import { createWorld } from "../world/world.ts";

export interface EveryOrder {
  readonly orders: number;
  /** From the first order that broke a promise. */
  readonly broken: readonly string[];
  readonly story: readonly string[];
}

/** One choice of a run: which of how many. */
interface Taken {
  readonly index: number;
  readonly count: number;
}

/** @param most of orders; more than that is an error of the scenario, which is too large */
export async function runEveryOrder(
  scenario: Scenario,
  { weaken, most = 20_000 }: { readonly weaken?: Weaken; readonly most?: number } = {},
): Promise<EveryOrder> {
  let way: readonly number[] | undefined = [];
  for (let orders = 1; way !== undefined; orders += 1) {
    if (orders > most) return { orders, broken: [`more than ${most} orders`], story: [] };
    const { taken, broken, story } = await runOrder(scenario, way, weaken);
    if (broken.length > 0) return { orders, broken, story };
    way = nextWay(taken);
    if (way === undefined) return { orders, broken: [], story: [] };
  }
  throw new Error("unreachable: a run without a choice has no next one");
}

async function runOrder(
  scenario: Scenario,
  way: readonly number[],
  weaken: Weaken | undefined,
): Promise<{ readonly taken: Taken[]; readonly broken: readonly string[]; readonly story: readonly string[] }> {
  const taken: Taken[] = [];
  let isExploring = false;
  const world = await createWorld({
    choose: (count) => {
      if (!isExploring) return 0;
      const index = way[taken.length] ?? 0;
      taken.push({ index, count });
      return index;
    },
    random: undefined,
    clients: [clientNamed("north"), clientNamed("mallory")],
    aheadSeconds: [0, 0],
    ...(weaken === undefined ? {} : { weaken }),
  });
  let race: (() => Promise<void>) | undefined;
  await runToEnd(world, async () => {
    // Until every process has its keys.
    await world.scheduler.wait(1_000);
    race = await scenario.prepare(world);
  });
  isExploring = true;
  if (race !== undefined) await runToEnd(world, race);
  await world.processes.close();
  return { taken, broken: world.promises.broken(), story: world.story };
}

/** The same choices but the last that has another possibility. @returns undefined after the last way */
function nextWay(taken: readonly Taken[]): readonly number[] | undefined {
  const last = taken.findLastIndex(({ index, count }) => index + 1 < count);
  const turn = taken[last];
  if (turn === undefined) return undefined;
  return [...taken.slice(0, last).map(({ index }) => index), turn.index + 1];
}
