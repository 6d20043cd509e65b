/**
 * What a connection costs in memory, and that none is refused that is within the limit: 32
 * connections against a thousand, with a flow under way on every one of them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { residentBytes } from "../bench/cpu-time.ts";
import { spreadOf } from "../bench/spread.ts";
import { startBrokers } from "./brokers.ts";
import { microseconds } from "./compare.ts";
import type { Row, Section } from "./section.ts";
import type { Size } from "./size.ts";
import { onStage, startStubVendor } from "./stage.ts";

const FEW = 32;
const FLOWS_OF_EACH = 3;
const SETTLE_MS = 500;
/** Collects garbage when it is asked to, so that what is left belongs to the connections. */
const COLLECTOR = 'data:text/javascript,process.on("SIGUSR2",()=>globalThis.gc())';

export async function measureConnections(size: Size, say: (line: string) => void): Promise<Section[]> {
  return onStage(async (stage) => {
    const vendorUrl = await startStubVendor(stage);
    const flags = ["--expose-gc", "--import", COLLECTOR];
    const brokers = stage.add(
      await startBrokers({ folder: stage.folder("broker"), store: "memory:", vendorUrl, flags }),
    );
    const pid = brokers.servers[0]?.pid ?? 0;
    const collected = async (): Promise<number> => {
      process.kill(pid, "SIGUSR2");
      await sleep(SETTLE_MS);
      return residentBytes(pid);
    };
    const { connections: many, rounds } = size;
    say(`warm-up: ${size.warmUp} flows`);
    if (size.warmUp > 0) await brokers.measure(size.warmUp);
    await brokers.hold(many, 1, collected);
    const memory: { readonly few: number; readonly many: number }[] = [];
    const cpu: { readonly few: number; readonly many: number }[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      // The number of flows is the same, and so is what they leave in the store.
      const each = Math.ceil((many * FLOWS_OF_EACH) / FEW);
      const few = await brokers.hold(FEW, each, collected);
      const inMany = await brokers.hold(many, FLOWS_OF_EACH, collected);
      memory.push({ few, many: inMany });
      const flows = Math.max(size.flows, many);
      cpu.push({
        few: (await brokers.measure(flows, FEW)).cpuMicroseconds,
        many: (await brokers.measure(flows, many)).cpuMicroseconds,
      });
      say(`round ${round}/${rounds}  ${megabytes(few)} with ${FEW} connections, ${megabytes(inMany)} with ${many}`);
    }
    const ratio = spreadOf(cpu.map((one) => one.many / one.few));
    const each = spreadOf(memory.map((one) => (one.many - one.few) / (many - FEW)));
    const rows: Row[] = [
      { what: `CPU per flow, ${FEW} connections`, figure: microseconds(spreadOf(cpu.map((one) => one.few))) },
      { what: `CPU per flow, ${many} connections`, figure: microseconds(spreadOf(cpu.map((one) => one.many))), ratio },
      {
        what: `memory of the process, ${FEW} connections`,
        figure: megabytes(spreadOf(memory.map(({ few }) => few)).median),
      },
      { what: `memory of the process, ${many}`, figure: megabytes(spreadOf(memory.map((one) => one.many)).median) },
      { what: "memory per open connection", figure: `${(each.median / 1024).toFixed(1)} KiB` },
      // A connection or a flow that is refused ends the run with an error.
      { what: `refused, of ${many} at once`, figure: "0", aim: { text: "0", met: true } },
    ];
    return [{ title: "Connections to one process, memory store", rows }];
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}
