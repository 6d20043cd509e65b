/**
 * What a connection costs in memory and in processor time, and that none is refused that is within
 * the limit: 32 connections against a thousand, with a flow under way on every one of them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { residentBytes } from "../../machine.ts";
import { spreadOf } from "../../spread.ts";
import { type Brokers, startBrokers } from "../fixture/brokers.ts";
import { compareSubjects, microseconds } from "../compare.ts";
import { type Found, grouped, pageLines, type Row, times } from "../section.ts";
import type { Size } from "../size.ts";
import { startVendor } from "../../services.ts";
import { onStage, type Stage } from "../../stage.ts";

const FEW = 32;
const FLOWS_OF_EACH = 3;
const SETTLE_MS = 500;
/** Collects garbage when it is asked to, so that what is left belongs to the connections. */
const COLLECTOR = 'data:text/javascript,process.on("SIGUSR2",()=>globalThis.gc())';

export async function measureConnections(size: Size, say: (line: string) => void): Promise<Found> {
  return onStage(async (stage) => {
    const { url: vendorUrl } = await startVendor("any", stage);
    const { connections: many, starts } = size;
    const memory: { readonly few: number; readonly many: number }[] = [];
    for (let start = 1; start <= starts; start += 1) {
      // A new process each time: memory that once was used may stay with the process.
      const one = await measureMemory(await startBroker(`memory-${start}`, vendorUrl, stage), many);
      memory.push(one);
      say(
        `start ${start}/${starts}  ${megabytes(one.few)} with ${FEW} connections, ${megabytes(one.many)} with ${many}`,
      );
    }
    const brokers = stage.add(await startBroker("cpu", vendorUrl, stage));
    const subjects = [FEW, many].map((connections) => ({
      name: `${connections} connections`,
      processes: 1,
      measure: (flows: number) => brokers.measure(flows, connections),
    }));
    const compared = await compareSubjects(subjects, { ...size, flows: Math.max(size.flows, many) }, say);
    const each = spreadOf(memory.map((one) => (one.many - one.few) / (many - FEW)));
    const [fewMedian, manyMedian] = [memory.map((one) => one.few), memory.map((one) => one.many)].map((all) =>
      megabytes(spreadOf(all).median),
    );
    const rows: Row[] = [
      ...compared.map(({ name, cpu, ratio }, index) => ({
        what: `CPU per flow, ${name}`,
        figure: microseconds(cpu),
        ...(index === 0 ? {} : { ratio }),
      })),
      { what: `memory of the process, ${FEW} connections`, figure: fewMedian ?? "" },
      { what: `memory of the process, ${many}`, figure: manyMedian ?? "" },
      { what: "memory per open connection", figure: `${(each.median / 1024).toFixed(1)} KiB` },
      // A connection or a flow that is refused ends the run with an error.
      { what: `refused, of ${many} at once`, figure: "0", aim: { text: "0", met: true } },
    ];
    const ratios = compared.slice(-1).map(({ ratio }) => times(ratio));
    const page = [
      ...pageLines("connections", [["connections to one process", String(FEW), grouped(many), ...ratios, ""]]),
      "",
      ...pageLines("connections", [
        [`memory of a process with ${FEW}, with ${grouped(many)} connections`, `${fewMedian}, ${manyMedian}`, ""],
        ["memory per open connection", `${(each.median / 1024).toFixed(0)} KiB`, ""],
        [`connections refused, of ${grouped(many)} with a flow under way on each`, "0", "0"],
      ]),
    ];
    return { sections: [{ title: "Connections to one process, SQLite store", rows }], page };
  });
}

function startBroker(name: string, vendorUrl: string, stage: Stage): Promise<Brokers> {
  const flags = ["--expose-gc", "--import", COLLECTOR];
  return startBrokers({ folder: stage.folder(name), store: "sqlite:./broker.sqlite", vendorUrl, flags });
}

/** The memory of the process, after garbage was collected, while the connections are open and idle. */
async function measureMemory(brokers: Brokers, many: number): Promise<{ readonly few: number; readonly many: number }> {
  const pid = brokers.servers[0]?.pid ?? 0;
  const collected = async (): Promise<number> => {
    process.kill(pid, "SIGUSR2");
    await sleep(SETTLE_MS);
    return residentBytes(pid);
  };
  try {
    const each = Math.ceil((many * FLOWS_OF_EACH) / FEW);
    const few = await brokers.hold(FEW, each, collected);
    return { few, many: await brokers.hold(many, FLOWS_OF_EACH, collected) };
  } finally {
    await brokers.stop();
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}
