/**
 * What a connection costs in memory and in processor time, and that none is refused that is within
 * the limit: 32 connections against a thousand, with a flow under way on every one of them; and 200
 * busy ones with and without a thousand idle ones beside them.
 */
import { spreadOf } from "../../spread.ts";
import { type Brokers, startBrokers } from "../fixture/brokers.ts";
import { createMemoryReader, mebibytes } from "../fixture/memory.ts";
import { compareSubjects, lastRatio, rowsOf } from "../compare.ts";
import { type Found, grouped, pageLines, type Row } from "../section.ts";
import type { Size } from "../size.ts";
import { startVendor } from "../../services.ts";
import { onStage, type Stage } from "../../stage.ts";

const FEW = 32;
const FLOWS_OF_EACH = 3;

export async function measureConnections(size: Size, say: (line: string) => void): Promise<Found> {
  return onStage(async (stage) => {
    const { url: vendorUrl } = await startVendor("any", stage);
    const { connections: many, starts, busy } = size;
    const memory: MemoryOf[] = [];
    for (let start = 1; start <= starts; start += 1) {
      // A new process each time: memory that once was used may stay with the process.
      const one = await measureMemory(`memory-${start}`, vendorUrl, stage, size);
      memory.push(one);
      say(
        `start ${start}/${starts}  ${mebibytes(one.few)} with ${FEW} connections, ${mebibytes(one.many)} with ${many}`,
      );
    }
    const brokers = await startBroker("cpu", vendorUrl, stage);
    const subjects = [FEW, many].map((connections) => ({
      name: `${connections} connections`,
      measure: (flows: number) => brokers.measure(flows, connections),
    }));
    const flows = Math.max(size.flows, many);
    const compared = await compareSubjects(subjects, { ...size, flows }, say);
    const mixed = await compareSubjects(
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
    const each = spreadOf(memory.map((one) => (one.many - one.few) / (many - FEW)));
    const medianOf = (which: keyof MemoryOf): string => mebibytes(spreadOf(memory.map((one) => one[which])).median);
    const [fewMedian, manyMedian] = [medianOf("few"), medianOf("many")];
    const rows: Row[] = [
      ...[compared, mixed].flatMap((some) => rowsOf(some, "CPU per flow, ")),
      { what: `memory of the process, ${FEW} connections`, figure: fewMedian },
      { what: `memory of the process, ${many}`, figure: manyMedian },
      { what: `memory of the process, ${busy} busy beside ${many} idle`, figure: medianOf("mixed") },
      { what: "memory per open connection", figure: `${(each.median / 1024).toFixed(1)} KiB` },
      // A connection or a flow that is refused ends the run with an error.
      { what: `refused, of ${many} at once`, figure: "0", aim: { text: "0", met: true } },
    ];
    const page = pageLines("connections", [
      ["connections to one process", String(FEW), grouped(many), lastRatio(compared), ""],
      [`idle connections beside ${busy} busy ones`, "0", grouped(many), lastRatio(mixed), ""],
      [`memory of a process with ${FEW}, with ${grouped(many)} connections`, `${fewMedian}, ${manyMedian}`, ""],
      [`memory of a process with ${grouped(many)} idle and ${busy} busy connections`, medianOf("mixed"), ""],
      ["memory per open connection", `${(each.median / 1024).toFixed(0)} KiB`, ""],
      [`connections refused, of ${grouped(many)} with a flow under way on each`, "0", "0"],
    ]);
    return { sections: [{ title: "Connections to one process, SQLite store", rows }], page };
  });
}

function startBroker(name: string, vendorUrl: string, stage: Stage, options = {}): Promise<Brokers> {
  return startBrokers({ folder: stage.folder(name), store: "sqlite:./broker.sqlite", vendorUrl, ...options }, stage);
}

interface MemoryOf {
  readonly few: number;
  readonly many: number;
  /** With the busy ones beside the many. */
  readonly mixed: number;
}

/** The memory of the process, after garbage was collected, while the connections are open. */
async function measureMemory(name: string, vendorUrl: string, stage: Stage, size: Size): Promise<MemoryOf> {
  const { connections: many, busy } = size;
  const { options, read } = createMemoryReader();
  const brokers = await startBroker(name, vendorUrl, stage, options);
  const pid = brokers.servers[0]?.pid ?? 0;
  const collected = async (): Promise<number> => (await read(pid)).residentBytes;
  try {
    const each = Math.ceil((many * FLOWS_OF_EACH) / FEW);
    const few = await brokers.hold(FEW, each, collected);
    const mixed = (): Promise<number> => brokers.hold(busy, FLOWS_OF_EACH, collected);
    const ofMany = await brokers.hold(many, FLOWS_OF_EACH, async () => [await collected(), await mixed()] as const);
    return { few, many: ofMany[0], mixed: ofMany[1] };
  } finally {
    await brokers.stop();
  }
}
