/**
 * What a flow costs, and how long a start takes, with one and with a thousand clients and vendors
 * in the configuration. The flows use all of them in turn.
 */
import { cpuMicroseconds } from "../../machine.ts";
import type { Subject } from "../../rounds.ts";
import { startVendor } from "../../services.ts";
import { spreadOf } from "../../spread.ts";
import type { Stage } from "../../stage.ts";
import { startDriven } from "../fixture/brokers.ts";
import { compareWithFirst, type Found, grouped, growthLine, lastRatio, pageLines } from "../section.ts";
import type { Size } from "../size.ts";

const LIMIT = 1.1;
const START_LIMIT_MS = 1000;

export async function measureConfiguration(size: Size, say: (line: string) => void, stage: Stage): Promise<Found> {
  const { url: vendorUrl } = await startVendor("any", stage);
  const sizes = [1, size.entries].map((entries) => {
    return { entries, name: `${grouped(entries)} + ${grouped(entries)}`, wall: [] as number[], cpu: [] as number[] };
  });
  const subjects: Subject[] = [];
  for (let start = 1; start <= size.starts; start += 1) {
    for (const { entries, name, wall, cpu } of sizes) {
      const { startMs, pid, measure, stop } = await startDriven({ store: "memory:", vendorUrl, entries }, stage);
      wall.push(startMs);
      cpu.push(cpuMicroseconds(pid) / 1000);
      say(`start ${start}/${size.starts}  ${name}: ${startMs.toFixed(0)} ms`);
      if (start === size.starts) subjects.push({ name, measure });
      else await stop();
    }
  }
  const outcomes = await compareWithFirst(subjects, size, say, LIMIT);
  const medians = sizes.map(({ wall, cpu }) => [spreadOf(wall).median, spreadOf(cpu).median] as const);
  const [few, many] = medians.map(([wall, cpu]) => `${wall.toFixed(0)} ms (${cpu.toFixed(0)} ms on a processor)`);
  const isMet = medians.every(([wall]) => wall <= START_LIMIT_MS);
  const most = grouped(size.entries);
  const names = sizes.map(({ name }) => name);
  return {
    sections: [{ title: "Clients + vendors in the configuration, CPU per flow, memory store", outcomes }],
    ...pageLines("configuration", [
      growthLine(["clients and vendors in the configuration", ...names], lastRatio(outcomes), LIMIT),
      {
        cells: [`start with ${most} clients and ${most} vendors`, `${many}; with one: ${few}`],
        aim: { text: `${START_LIMIT_MS / 1000} s`, isMet },
      },
    ]),
  };
}
