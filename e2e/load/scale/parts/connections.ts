/**
 * What a connection costs in memory and in processor time, and that none is refused that is within
 * the limit: 32 connections against a thousand, with a flow under way on every one of them; and 200
 * busy ones with and without a thousand idle ones beside them.
 */
import { startVendor } from "../../services.ts";
import { spreadOf } from "../../spread.ts";
import type { Stage } from "../../stage.ts";
import { startDriven } from "../fixture/brokers.ts";
import { mebibytes, startWithMemory } from "../fixture/memory.ts";
import { compareWithFirst, type Found, grouped, growthLine, lastRatio, pageLines } from "../section.ts";
import type { Size } from "../size.ts";

const FEW = 32;
const FLOWS_OF_EACH = 3;

export async function measureConnections(size: Size, say: (line: string) => void, stage: Stage): Promise<Found> {
  const { url: vendorUrl } = await startVendor("any", stage);
  const { connections: many, starts, busy } = size;
  const broker = { store: "sqlite:./broker.sqlite", vendorUrl };
  const memory: MemoryOf[] = [];
  for (let start = 1; start <= starts; start += 1) {
    // A new process each time: memory that once was used may stay with the process.
    const brokers = await startWithMemory(broker, stage);
    const one = await measureMemory(brokers, size);
    await brokers.stop();
    memory.push(one);
    say(`start ${start}/${starts}  ${mebibytes(one.few)} with ${FEW}, ${mebibytes(one.many)} with ${many}`);
  }
  const brokers = await startDriven(broker, stage);
  const subjects = [FEW, many].map((connections) => ({
    name: `${connections} connections`,
    measure: (flows: number) => brokers.measure(flows, connections),
  }));
  const flows = Math.max(size.flows, many);
  const compared = await compareWithFirst(subjects, { ...size, flows }, say);
  const mixed = await compareWithFirst(
    [
      { name: `${busy} busy`, measure: (count) => brokers.measure(count, busy) },
      {
        name: `${busy} busy beside ${many} idle`,
        measure: (count) => brokers.hold(many, 1, () => brokers.measure(count, busy)),
      },
    ],
    // The broker is warm by now.
    { ...size, flows, warmUp: 0 },
    say,
  );
  const most = grouped(many);
  const each = spreadOf(memory.map((one) => (one.many - one.few) / (many - FEW)));
  const medianOf = (which: keyof MemoryOf): string => mebibytes(spreadOf(memory.map((one) => one[which])).median);
  return {
    sections: [compared, mixed].map((outcomes) => ({ title: "CPU per flow, SQLite store", outcomes })),
    ...pageLines("connections", [
      growthLine(["connections to one process", String(FEW), most], lastRatio(compared)),
      growthLine([`idle connections beside ${busy} busy ones`, "0", most], lastRatio(mixed)),
      {
        cells: [`memory of a process with ${FEW}, with ${most} connections`, `${medianOf("few")}, ${medianOf("many")}`],
      },
      { cells: [`memory of a process with ${most} idle and ${busy} busy connections`, medianOf("mixed")] },
      { cells: ["memory per open connection", `${(each.median / 1024).toFixed(0)} KiB`] },
      // A connection or a flow that is refused ends the run with an error.
      {
        cells: [`connections refused, of ${most} with a flow under way on each`, "0"],
        aim: { text: "0", isMet: true },
      },
    ]),
  };
}

type MemoryOf = Awaited<ReturnType<typeof measureMemory>>;
/** @returns the memory of the process, after garbage was collected; `mixed`: with the busy ones beside the many */
async function measureMemory(
  { hold, memory }: Awaited<ReturnType<typeof startWithMemory>>,
  { connections, busy }: Size,
) {
  const read = async (): Promise<number> => (await memory()).residentBytes;
  const few = await hold(FEW, Math.ceil((connections * FLOWS_OF_EACH) / FEW), read);
  return hold(connections, FLOWS_OF_EACH, async () => {
    return { few, many: await read(), mixed: await hold(busy, FLOWS_OF_EACH, read) };
  });
}
