/**
 * What a flow costs in memory while its user is at the vendor: the same broker without such flows
 * and with thousands, on the memory store and on SQLite.
 */
import { inLanes, LANES } from "../../lanes.ts";
import { spreadOf } from "../../spread.ts";
import { startVendor } from "../../services.ts";
import { onStage } from "../../stage.ts";
import { type Brokers, startBrokers } from "../fixture/brokers.ts";
import { createMemoryReader, kibibytes, mebibytes, type Memory } from "../fixture/memory.ts";
import { type Found, grouped, pageLines, type Section } from "../section.ts";
import type { Size } from "../size.ts";

const STORES = { memory: "memory:", SQLite: "sqlite:./broker.sqlite" } as const;
/** Flows from begin to end before: what a process keeps once, it has then. */
const FLOWS_BEFORE = 1_000;

interface Growth {
  readonly none: Memory;
  readonly many: Memory;
}

export async function measureWaiting(size: Size, say: (line: string) => void): Promise<Found> {
  const { waiting, starts } = size;
  const sections: Section[] = [];
  const lines: string[][] = [];
  for (const [store, url] of Object.entries(STORES)) {
    const found: Growth[] = [];
    for (let start = 1; start <= starts; start += 1) {
      // A new process each time: memory that once was used may stay with the process.
      const one = await onStage(async (stage) => {
        const { url: vendorUrl } = await startVendor("any", stage);
        const { options, read } = createMemoryReader();
        const broker = { folder: stage.folder("broker"), store: url, vendorUrl, ...options };
        const brokers = await startBrokers(broker, stage);
        const pid = brokers.servers[0]?.pid ?? 0;
        await brokers.measure(Math.min(FLOWS_BEFORE, waiting), LANES);
        const none = await read(pid);
        await leaveMany(brokers, waiting);
        return { none, many: await read(pid) };
      });
      found.push(one);
      say(
        `${store}, start ${start}/${starts}  ${mebibytes(one.none.residentBytes)}, then ${mebibytes(one.many.residentBytes)}`,
      );
    }
    const each = (what: keyof Memory): string =>
      kibibytes(spreadOf(found.map(({ none, many }) => (many[what] - none[what]) / waiting)).median);
    const whole = (when: keyof Growth): string =>
      mebibytes(spreadOf(found.map((one) => one[when].residentBytes)).median);
    const [heap, resident] = [each("heapBytes"), each("residentBytes")];
    sections.push({
      title: `Memory of flows whose users are at the vendor, ${store} store`,
      rows: [
        { what: "resident, without any", figure: whole("none") },
        { what: `resident, ${grouped(waiting)} waiting`, figure: whole("many") },
        { what: "heap, for each waiting flow", figure: heap },
        { what: "resident, for each waiting flow", figure: resident },
      ],
    });
    lines.push([
      `memory per waiting flow, ${store} store, with ${grouped(waiting)}`,
      `${resident} resident, ${heap} of it heap`,
      "",
    ]);
  }
  return { sections, page: pageLines("waiting", lines) };
}

/** So many flows, each as far as the vendor's page. */
async function leaveMany({ actor, open }: Brokers, count: number): Promise<void> {
  const connections = Array.from({ length: LANES }, open);
  await inLanes(LANES, count, async (lane) => {
    await actor.leave(connections[lane]!, await actor.push(connections[lane]!));
  });
  await Promise.all(connections.map((connection) => connection.close()));
}
