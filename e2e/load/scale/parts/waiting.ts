/**
 * What a flow costs in memory while its user is at the vendor: the same broker without such flows
 * and with thousands, on the memory store and on SQLite.
 */
import { inLanes, LANES } from "../../lanes.ts";
import { startVendor } from "../../services.ts";
import { spreadOf } from "../../spread.ts";
import type { Stage } from "../../stage.ts";
import type { Brokers } from "../fixture/brokers.ts";
import { kibibytes, mebibytes, type Memory, startWithMemory } from "../fixture/memory.ts";
import { type Found, grouped, type PageLine, pageLines } from "../section.ts";
import type { Size } from "../size.ts";

const STORES = { memory: "memory:", SQLite: "sqlite:./broker.sqlite" } as const;
/** Flows from begin to end before: what a process keeps once, it has then. */
const FLOWS_BEFORE = 1_000;

export async function measureWaiting(
  { waiting, starts }: Size,
  say: (line: string) => void,
  stage: Stage,
): Promise<Found> {
  const { url: vendorUrl } = await startVendor("any", stage);
  const lines: PageLine[] = [];
  for (const [name, store] of Object.entries(STORES)) {
    const grown: Memory[] = [];
    for (let start = 1; start <= starts; start += 1) {
      // A new process each time: memory that once was used may stay with the process.
      const brokers = await startWithMemory({ store, vendorUrl }, stage);
      await brokers.measure(Math.min(FLOWS_BEFORE, waiting), LANES);
      const none = await brokers.memory();
      await leaveMany(brokers, waiting);
      const many = await brokers.memory();
      await brokers.stop();
      const grownBy = (what: keyof Memory): number => (many[what] - none[what]) / waiting;
      grown.push({ heapBytes: grownBy("heapBytes"), residentBytes: grownBy("residentBytes") });
      const [from, to] = [mebibytes(none.residentBytes), mebibytes(many.residentBytes)];
      say(`${name}, start ${start}/${starts}  ${from}, then ${to}`);
    }
    const each = (what: keyof Memory): string => kibibytes(spreadOf(grown.map((one) => one[what])).median);
    const figure = `${each("residentBytes")} resident, ${each("heapBytes")} of it heap`;
    lines.push({ cells: [`memory per waiting flow, ${name} store, with ${grouped(waiting)}`, figure] });
  }
  return { sections: [], ...pageLines("waiting", lines) };
}

/** So many flows, each as far as the vendor's page. */
async function leaveMany({ actor, hold }: Brokers, count: number): Promise<void> {
  await hold(LANES, 0, (open) =>
    inLanes(LANES, count, async (lane) => actor.leave(open[lane]!, await actor.push(open[lane]!))),
  );
}
